/// The form of the API of an ``HTTPStorageEngine``, and the limits of its requests.
public struct HTTPStorageOptions: Sendable {
    /// The member of each object that identifies it, a string or an integer; by default `id`.
    public var idMember = "id"
    /// The path of members to the array of objects in the response for the collection; by default empty, which means
    /// that the response is the array. For `{"data": {"items": […]}}` it is `["data", "items"]`.
    public var itemsPath: [String] = []
    /// Whether the addresses of items end with a slash, as in `notes/1/`; by default `false`.
    public var itemAddressesEndWithSlash = false
    /// Whether single items can be changed under conditions; by default `false`. The server must send strong entity
    /// tags, and refuse a change whose `If-Match` or `If-None-Match` is not met. One that ignores them overwrites what
    /// others have written in between: ``HTTPStorageEngine/checkConditions(writing:key:)`` finds that out. An item
    /// must have the same members in the response for the collection as in its own.
    public var usesEntityTags = false
    /// The time in which the server must have responded to a request; by default 30 seconds. A transfer that is slow,
    /// but goes on, has more, see ``HTTPStorageRequest/timeLimit``.
    public var timeLimit = Duration.seconds(30)
    /// The maximum number of bytes of a response, after decompression; by default 64 MiB. With ``URLSessionTransport``
    /// on Linux, a compressed response can exceed it in memory for a moment before its request is ended.
    public var maximumResponseBytes = 64 << 20
    /// The maximum number of pages of the collection; by default 1,000. Pages beyond it are an error.
    public var maximumPages = 1_000
    /// The maximum number of concurrent requests of one call that reads several items; by default 8.
    public var maximumConcurrentRequests = 8

    /// Creates the default options.
    public init() {}
}
