#if Server
/// The address, TLS, the limits and the metrics of a ``StorageServer``.
public struct StorageServerOptions: Sendable {
    /// The host to listen on; by default this machine only.
    ///
    /// Others that can be reached from other machines need an access with tokens, and ``tls`` or ``isBehindProxy``.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 for any free one.
    public var port = 8080
    /// The certificate and the key for TLS; by default `nil`, and the server speaks HTTP without TLS.
    public var tls: StorageServerTLS?
    /// Whether only a proxy with TLS can reach a ``host`` that is not this machine; by default `false`.
    public var isBehindProxy = false
    /// The limits.
    public var limits = StorageServerLimits()
    /// Figures about requests, connections and limits; by default `nil`, and nothing is counted.
    public var metrics: StorageServerMetrics?
    /// The port of this machine, and of it only, on which the server answers `GET /metrics` with the ``metrics``; 0 for
    /// any free one, by default `nil` for none.
    public var metricsPort: Int?

    /// Creates the default options.
    public init() {}
}
#endif
