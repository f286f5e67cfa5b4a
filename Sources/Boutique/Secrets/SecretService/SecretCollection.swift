#if SecretService
import Foundation

/// The default collection of a secret service, which is not locked.
///
/// A call of ``SecretServiceStorage`` goes this way:
///
/// 1. ``TimeLimit`` starts a thread for it, and waits for that thread at most for the time limit.
/// 2. The thread connects to the bus, and opens a session of the service. Each call has its own
///    connection, so a service that was started again has nothing to invalidate.
/// 3. It finds the default collection, and stops if it is locked. So a service that does not answer, or is locked,
///    never receives a write.
/// 4. It reads, writes or removes. If the service wants to prompt the user, the prompt is dismissed.
struct SecretCollection {
    private let connection: SecretServiceConnection
    private let path: String

    /// How often an item that another process removes in the meantime is searched for again.
    private static let attempts = 8

    /// - Parameter connection: A connection to the service.
    /// - Throws: A ``KeychainError``: `locked` if the collection is locked.
    init(_ connection: SecretServiceConnection) throws {
        self.connection = connection
        path = try connection.defaultCollection()
        if path == SecretServiceConnection.noObject { throw KeychainError.noCollection }
        if try connection.isLocked(path) { throw KeychainError.lockedCollection }
    }

    /// Reads a secret; `nil` if there is none.
    func read(_ item: SecretItem) throws -> Data? {
        for _ in 0..<Self.attempts {
            guard let found = try connection.search(path, item).first else { return nil }
            if let data = try ifPresent({ try connection.read(found) }) { return data }
        }
        throw KeychainError(
            .other, "The secret service lists the secret, but has no such item. Restart the service and try again.")
    }

    /// Writes or replaces a secret.
    func write(_ data: Data, to item: SecretItem) throws {
        try dismiss(connection.write(path, data, to: item))
    }

    /// Removes a secret, if there is one.
    func remove(_ item: SecretItem) throws {
        for found in try connection.search(path, item) {
            if let prompt = try ifPresent({ try connection.remove(found) }) { try dismiss(prompt) }
        }
    }

    /// Runs a closure; `nil` if its item has been removed in the meantime.
    private func ifPresent<Result>(_ body: () throws -> Result) throws -> Result? {
        do {
            return try body()
        } catch let error as SecretServiceFailure where error.isAbsence {
            return nil
        }
    }

    /// Dismisses a prompt, because a call must not wait for the user.
    private func dismiss(_ prompt: String) throws {
        if prompt == SecretServiceConnection.noObject { return }
        try connection.dismiss(prompt)
        throw KeychainError.promptNeeded
    }
}
#endif
