#if Server
/// The limits of what clients can ask for, each alone and all together.
public struct StorageServerLimits: Sendable {
    // MARK: A request

    /// The maximum number of bytes of a request's body, and of an item; by default 64 MiB.
    public var requestBytes = 64 << 20
    /// The maximum number of operations, conditions and dates of all batches of a request; by default 200,000.
    public var operations = 200_000
    /// The maximum number of batches that one request applies together; by default 100.
    public var batches = 100
    /// The maximum number of keys of a request; by default 200,000.
    public var keys = 200_000
    /// The number of seconds that a query may take, see ``StorageRoutes``; by default 10. It ends after the item at
    /// which they are over, or within the regular expression that is compared with it.
    public var querySeconds = 10.0
    /// The maximum number of scans of a request; by default 1,000.
    public var scans = 1_000
    /// The maximum number of bytes of an answer that is larger than a client reads it, in memory and in a temporary
    /// file; by default 8 GiB.
    public var answerBytes = 8 << 30

    // MARK: A client

    /// The maximum number of streams of events that a client has open; by default 100.
    public var streams = 100
    /// The maximum number of bytes of the temporary files with answers that a client has not read yet; by default
    /// 16 GiB, which is half of ``totalAnswerFileBytes``. An answer beyond it ends with the error `tooLarge`.
    public var answerFileBytes = 16 << 30
    /// The maximum number of bytes of the bodies of requests that a client sends at the same time, which are in memory
    /// until a request is answered, and of the single items of more than 64 KiB that it has not read yet; by default
    /// 256 MiB, and never less than ``requestBytes``. A request beyond it gets the status 429.
    public var bodyBytes = 256 << 20
    /// The maximum number of scans, queries, and reads of several items or of changes of a client that run at the same
    /// time; by default 4, so that those of one client don't hold up others. A further one waits.
    public var concurrentReads = 4
    /// The number of seconds after which a request with an idempotency key is forgotten, see
    /// ``StorageCollections/receipts``; by default an hour. A client must not send it again later.
    public var receiptSeconds = 3_600.0
    /// The number of requests per second that a client may send in the long run; by default `nil`, which is any.
    ///
    /// A client that sends more gets the status 429 with the number of seconds to wait. A client is one
    /// ``StorageClient/id``, which is a token of ``AccessTokens``, on one server: each server counts by itself.
    public var requestsPerSecond: Double?
    /// The number of requests that a client may send in one go after a pause; by default 100. It matters with
    /// ``requestsPerSecond`` only.
    public var requestBurst = 100

    // MARK: All clients

    /// The maximum number of connections; by default 20,000, but never more than the process may have open files, less
    /// 128 for the database. A further connection is closed immediately.
    ///
    /// This and the limits of time apply to ``StorageServer``, not to ``StorageRoutes`` in an application of your own.
    public var connections = 20_000
    /// The maximum number of streams of events of all clients; by default 20,000. A client beyond it gets the status
    /// 503.
    public var totalStreams = 20_000
    /// The maximum number of bytes of the bodies of requests of all clients at the same time, and of the single items
    /// of more than 64 KiB that they have not read yet; by default 512 MiB, and never less than ``requestBytes``. A
    /// request beyond it gets the status 503.
    public var totalBodyBytes = 512 << 20
    /// The maximum number of bytes of all temporary files with answers that clients have not read yet; by default
    /// 32 GiB. An answer beyond it ends with the error `storageFull`.
    public var totalAnswerFileBytes = 32 << 30

    // MARK: Time

    /// The number of seconds from the opening of a connection, with TLS, until it has received the head of its first
    /// request; by default 20. For the heads of its later requests, ``idleSeconds`` applies.
    public var headSeconds: Int64 = 20
    /// The number of seconds from the head of a request until its whole body has been received; by default 60. They
    /// begin again when 8 KiB for each of them have been received, so that a large body may come over a slow network.
    public var bodySeconds: Int64 = 60
    /// The number of seconds in which a client that has an answer to read must read some of it; by default 300. On
    /// Linux, some 10 seconds later the connection of a client ends that has vanished, such as a phone without a
    /// network: by itself, the system would keep it, and the server its stream of events, for a quarter of an hour.
    public var stalledSeconds: Int64 = 300
    /// The number of seconds after which an idle connection is closed; by default 60.
    public var idleSeconds: Int64 = 60
    /// The number of seconds that requests under way have when the server is stopped; by default 10.
    public var shutdownSeconds: Int64 = 10

    /// Creates the default limits.
    public init() {}
}
#endif
