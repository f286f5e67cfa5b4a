#if Server
public import Bodega
import Crypto
public import Foundation

/// Tokens that are kept in a collection.
///
/// ```swift
/// let tokens = AccessTokens(storage: try database.collection(named: "tokens"))
/// let (token, _) = try await tokens.create(
///     name: "Ada's phone", grants: [AccessGrant(collection: "notes", matching: #"@.owner == "ada""#)])
/// ```
///
/// A token is random, 256 bits of it secret, and is shown once: only its SHA-256 is stored, which is safe for a secret
/// that can't be guessed. The collection must not be one that a server gives to clients.
///
/// Several servers can share the collection. A token that is revoked on one of them ends its streams on all. After
/// ``revoke(id:)`` has returned, the same object accepts the token no more, and others within a second: a token that
/// was read is known for half a second, or until the collection changes.
public final class AccessTokens: StorageAccess {
    private static let prefix = "emporium"

    private let storage: any StorageEngine
    private let tokens: ObjectStorage<AccessToken>
    private let now: @Sendable () -> Date
    private let known = KnownTokens()

    /// Creates an access by the tokens in a collection.
    ///
    /// - Parameters:
    ///   - storage: The engine on the collection.
    ///   - now: Returns the current time.
    public init(storage: any StorageEngine, now: @escaping @Sendable () -> Date = { Date() }) {
        (self.storage, self.now) = (storage, now)
        tokens = ObjectStorage(storage: storage)
    }

    /// Creates a token.
    ///
    /// - Parameters:
    ///   - name: What the token is for, for people.
    ///   - grants: What it gives the right to.
    ///   - expiresAt: When it ends to be valid; `nil` if it does not.
    /// - Returns: The token for the client, which can't be read again, and what is stored about it.
    /// - Throws: A `StorageError`: `invalidArgument` if a filter is not valid, or two grants name one collection.
    public func create(
        name: String, grants: [AccessGrant], expiresAt: Date? = nil
    ) async throws -> (token: String, stored: AccessToken) {
        try Self.check(grants)
        let secret = Self.text(SymmetricKey(size: .bits256))
        let stored = AccessToken(
            id: Self.text(SymmetricKey(size: .init(bitCount: 96))), name: name, grants: grants, createdAt: now(),
            expiresAt: expiresAt, hash: Data(SHA256.hash(data: Data(secret.utf8))))
        try await tokens.store(stored, forKey: CacheKey(verbatim: stored.id))
        return ("\(Self.prefix)_\(stored.id)_\(secret)", stored)
    }

    /// Replaces what a token gives the right to. Its requests obey the new grants within half a second, and streams
    /// with the old ones end.
    ///
    /// - Parameters:
    ///   - id: The token's ``AccessToken/id``.
    ///   - grants: What it gives the right to from now on.
    /// - Returns: What is stored about the token; `nil` if there is none.
    /// - Throws: A `StorageError`: `invalidArgument` if a filter is not valid, or two grants name one collection.
    @discardableResult
    public func setGrants(_ grants: [AccessGrant], ofTokenWithID id: String) async throws -> AccessToken? {
        try Self.check(grants)
        defer { known.forget() }
        return try await tokens.update(forKey: CacheKey(verbatim: id)) { $0.grants = grants }
    }

    private static func check(_ grants: [AccessGrant]) throws {
        var names: Set<String?> = []
        for grant in grants {
            _ = try grant.scope()
            guard names.insert(grant.collection).inserted else {
                throw StorageError(
                    .invalidArgument,
                    "Two grants of the token are for collections with the same name, or for names that look the same.")
            }
        }
    }

    /// Returns all tokens, also those that have expired, in the order in which they were created.
    ///
    /// - Throws: A `StorageError` if the collection can't be read, or has an item that is no token.
    public func all() async throws -> [AccessToken] {
        let fetched = try await fetchAll()
        if let error = fetched.undecodable.first { throw error }
        return fetched.objects
    }

    /// All tokens, and the errors of the items that are none.
    package func fetchAll() async throws -> FetchedObjects<AccessToken> { try await tokens.fetchAllObjects() }

    /// Whether there is a token, or an item that was one.
    package func contains(id: String) async throws -> Bool {
        try await storage.backend.fetch(key: CacheKey(verbatim: id)) != nil
    }

    /// Revokes a token, if it exists: its requests are refused from now on, and its streams end.
    public func revoke(id: String) async throws {
        defer { known.forget() }
        try await tokens.removeObject(forKey: CacheKey(verbatim: id))
    }

    public func client(bearing token: String?) async throws -> StorageClient? {
        let parts = token?.utf8.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false) ?? []
        guard parts.count == 3, parts[0].elementsEqual(Self.prefix.utf8), let id = String(parts[1]) else { return nil }
        let now = now()
        guard let known = try await known.token(id, at: now, { try await read(id) }) else { return nil }
        // This comparison takes the same time wherever the two differ.
        guard SHA256.hash(data: Data(parts[2])) == known.token.hash else { return nil }
        if let end = known.token.expiresAt, end <= now { return nil }
        return known.client
    }

    /// Reads a token from the collection.
    private func read(_ id: String) async throws -> (AccessToken, StorageClient)? {
        guard let stored = try await tokens.fetchObject(forKey: CacheKey(verbatim: id)) else { return nil }
        var client = StorageClient(id: stored.id, expiresAt: stored.expiresAt)
        for grant in stored.grants {
            if let name = grant.collection {
                client.scopes[name] = try grant.scope()
            } else {
                client.otherScope = try grant.scope()
            }
        }
        return (stored, client)
    }

    /// Signals the changes of the collection, if its engine has a log.
    public func changeSignals() -> AsyncStream<Void> {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let task = Task { [storage, known] in
            for await _ in storage.backend.changeSignals() {
                // Before the signal, after which the tokens are read again.
                known.forget()
                signal.yield()
            }
            signal.finish()
        }
        signal.onTermination = { _ in task.cancel() }
        return signals
    }

    /// A random text that needs no escapes: letters and digits.
    private static func text(_ key: SymmetricKey) -> String {
        key.withUnsafeBytes { bytes in bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
    }
}
#endif
