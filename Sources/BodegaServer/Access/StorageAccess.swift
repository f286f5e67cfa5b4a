#if Server
public import Bodega
public import Foundation

/// Decides which client a request is from, and what it may see and do.
public protocol StorageAccess: Sendable {

    /// Returns the client that a bearer token stands for.
    ///
    /// - Parameter token: The token of the request; `nil` if it has none.
    /// - Returns: The client; `nil` if the token is not valid (any more).
    /// - Throws: A `StorageError` if it is not known whether it is.
    func client(bearing token: String?) async throws -> StorageClient?

    /// Signals that clients may have changed, so that open streams are checked again. By default, nothing.
    func changeSignals() -> AsyncStream<Void>
}

extension StorageAccess {
    public func changeSignals() -> AsyncStream<Void> { AsyncStream { $0.finish() } }
}

/// A client of a ``StorageServer``.
public struct StorageClient: Sendable {
    /// The identifier, which is logged.
    public var id: String
    /// What the client may see and do, by the names of the collections.
    public var scopes: [String: StorageScope]
    /// What the client may see and do in all other collections; `nil` if they do not exist for it.
    public var otherScope: StorageScope?
    /// When its right ends; `nil` if it does not.
    public var expiresAt: Date?

    /// Creates a description of a client.
    ///
    /// - Parameters:
    ///   - id: The identifier. When the scopes of the client change, its streams end, and it reads all items again.
    ///   - scopes: What the client may see and do, by the names of the collections.
    ///   - otherScope: What the client may see and do in all other collections.
    ///   - expiresAt: When its right ends.
    public init(
        id: String, scopes: [String: StorageScope] = [:], otherScope: StorageScope? = nil, expiresAt: Date? = nil
    ) {
        (self.id, self.scopes, self.otherScope, self.expiresAt) = (id, scopes, otherScope, expiresAt)
    }

    func scope(of collection: String) -> StorageScope? { scopes.value(exactly: collection) ?? otherScope }

    /// Whether the client may write to some collection.
    var mayWrite: Bool {
        (Array(scopes.values) + [otherScope].compactMap(\.self)).contains { $0.rights.contains(.write) }
    }
}

/// Gives all rights to all requests, also those without a token. For a server that only this machine can reach.
public struct OpenAccess: StorageAccess {
    private let client: StorageClient

    /// Creates a rule.
    ///
    /// - Parameter rights: What each request may do.
    public init(rights: StorageScope.Rights = .all) {
        client = StorageClient(id: "everyone", otherScope: StorageScope(rights: rights))
    }

    public func client(bearing token: String?) -> StorageClient? { client }
}

extension Dictionary where Key == String {
    /// The value of a name, which is compared byte by byte: two spellings of "é" are two collections.
    func value(exactly name: String) -> Value? {
        guard let index = index(forKey: name), ExactText(self[index].key) == ExactText(name) else { return nil }
        return self[index].value
    }
}
#endif
