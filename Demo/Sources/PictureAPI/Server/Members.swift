import Bodega
import Foundation

/// Who is signed in. Sessions survive a restart, and only a hash of each token is stored.
struct Members {
    /// The password of every member. This is a demonstration, and the page tells it.
    static let password = "easel"

    private let sessions: ObjectStorage<Session>

    private struct Session: Codable {
        let name: String
    }

    /// Keeps sessions in an engine of their own.
    init(storage: any StorageEngine) {
        sessions = ObjectStorage(storage: storage)
    }

    /// Signs somebody in.
    ///
    /// - Returns: A token for later requests, or `nil` if the password is wrong.
    /// - Throws: A `StorageError` if the session could not be stored.
    func signIn(name: String, password: String) async throws -> String? {
        guard password == Self.password else { return nil }
        var random = SystemRandomNumberGenerator()
        let token = (0..<4).map { _ in String(random.next() | 1 << 63, radix: 16) }.joined()
        // The engine's keys are hashes of what a `CacheKey` is made of.
        try await sessions.store(Session(name: name), forKey: CacheKey(token))
        return token
    }

    /// Tells whether a token is one of ours and has not been given back.
    ///
    /// - Throws: A `StorageError` if that could not be found out.
    func isSignedIn(_ token: String) async throws -> Bool {
        try await sessions.fetchObject(forKey: CacheKey(token)) != nil
    }

    /// Signs somebody out.
    ///
    /// - Throws: A `StorageError` if the session could not be removed.
    func signOut(_ token: String) async throws {
        try await sessions.removeObject(forKey: CacheKey(token))
    }
}
