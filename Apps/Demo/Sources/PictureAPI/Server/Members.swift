import Bodega
import Foundation

/// The sessions of members. They survive a restart, and only a hash of each token is stored.
struct Members {
    /// The password of all members. The page shows it, because this is a demonstration.
    static let password = "easel"

    private let sessions: ObjectStorage<Session>

    private struct Session: Codable {
        let name: String
    }

    /// Creates a list of sessions on an engine that holds nothing else.
    init(storage: any StorageEngine) {
        sessions = ObjectStorage(storage: storage)
    }

    /// Signs a user in.
    ///
    /// - Returns: A token for later requests, or `nil` if the password is wrong.
    /// - Throws: A `StorageError` if the session could not be stored.
    func signIn(name: String, password: String) async throws -> String? {
        guard password == Self.password else { return nil }
        var random = SystemRandomNumberGenerator()
        let token = (0..<4).map { _ in String(random.next() | 1 << 63, radix: 16) }.joined()
        // A `CacheKey` stores a hash of its text.
        try await sessions.store(Session(name: name), forKey: CacheKey(token))
        return token
    }

    /// Returns whether a token is valid.
    ///
    /// - Throws: A `StorageError` if the sessions could not be read.
    func isSignedIn(_ token: String) async throws -> Bool {
        try await sessions.fetchObject(forKey: CacheKey(token)) != nil
    }

    /// Revokes a token.
    ///
    /// - Throws: A `StorageError` if the session could not be removed.
    func signOut(_ token: String) async throws {
        try await sessions.removeObject(forKey: CacheKey(token))
    }
}
