#if Server
/// The limits of what a client can ask for.
public struct StorageServerLimits: Sendable {
    /// The maximum number of bytes of a request's body, and of an item; by default 64 MiB.
    public var requestBytes = 64 << 20
    /// The maximum number of operations and conditions of a batch; by default 200,000.
    public var operations = 200_000
    /// The maximum number of keys of a request; by default 200,000.
    public var keys = 200_000
    /// The maximum number of scans of a request; by default 1,000.
    public var scans = 1_000
    /// The maximum number of bytes of an answer that is larger than a client reads it, in memory and in a temporary
    /// file; by default 8 GiB.
    public var answerBytes = 8 << 30
    /// The maximum number of streams of events that a client has open; by default 100.
    public var streams = 100
    /// The number of seconds after which a request with an idempotency key is forgotten, see
    /// ``StorageCollections/receipts``; by default an hour. A client must not send it again later.
    public var receiptSeconds = 3_600.0
    /// The number of seconds that requests under way have when the server is stopped; by default 10.
    public var shutdownSeconds: Int64 = 10
    /// The number of seconds after which an idle connection is closed; by default 60.
    public var idleSeconds: Int64 = 60

    /// Creates the default limits.
    public init() {}
}
#endif
