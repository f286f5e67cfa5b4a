public import Bodega

/// The limits of the requests of a ``RemoteStorageEngine``.
public struct RemoteStorageOptions: Sendable {
    /// The time in which the server must have answered, and then the time in which each further part of a long answer
    /// must arrive; by default 30 seconds. A transfer that is slow, but goes on, has more, see
    /// ``/BodegaHTTP/HTTPStorageRequest/timeLimit``.
    public var timeLimit = Duration.seconds(30)
    /// The time in which an index must have been created; by default an hour.
    public var indexTimeLimit = Duration.seconds(3_600)
    /// Whether the address of another machine may begin with `http://`; by default `false`. Others who can read the
    /// traffic then see the token and the items. A network of containers on one machine can be an exception.
    public var allowsPlainHTTP = false
    /// The maximum number of bytes of an item, and of the answer to a batch; by default 256 MiB.
    public var maximumItemBytes = 256 << 20
    /// How often and how fast a request is sent again after a temporary error; by default 3 times in all within
    /// 20 seconds, after at most 100 and 200 milliseconds, or as long as the server asks for.
    ///
    /// Reads are sent again. So is each change if the server keeps receipts: it recognizes one that it has made. If it
    /// keeps none, only changes are sent again that have the same effect when they are made twice, which can undo what
    /// others have written in between.
    public var retryPolicy: StorageRetryPolicy = {
        var policy = StorageRetryPolicy()
        (policy.maximumAttempts, policy.baseDelay) = (3, .milliseconds(100))
        policy.timeLimit = .seconds(20)
        policy.shouldRetry = { error in
            StorageRetryPolicy.isTemporary(error) || (error as? StorageError)?.code == .rateLimited
        }
        return policy
    }()

    /// Called after about each 64 KiB that were sent or received.
    package var onProgress: (@Sendable () -> Void)?

    /// Creates the default options.
    public init() {}
}

extension StorageError.Code {
    /// The server accepts no more from this client for now, see ``/Bodega/StorageError/retryAfter``.
    public static let rateLimited = StorageError.Code(rawValue: "rateLimited")
}
