public import Foundation

/// A storage of secrets: the keychain, encrypted files, the keyring of a Linux desktop, or a custom one.
///
/// Its methods may block for a short time and may be called from any thread. They throw a ``KeychainError`` with a code
/// for the kind of failure, so that ``SecurelyStoredValue`` behaves the same with all storages.
///
/// A custom storage implements ``scope``, ``read(_:)``, ``write(_:to:)`` and ``remove(_:)``. If it can exclude other
/// processes, it also implements ``exclusively(_:)``.
public protocol SecretStorage: Sendable {

    /// The name of the underlying storage. Instances with the same scope hold the same secrets, so setting a value
    /// through one of them notifies the observers of all.
    var scope: String { get }

    /// Reads a secret.
    ///
    /// It must not wait for ``exclusively(_:)`` or for a write to end.
    ///
    /// - Parameter secret: The address of the secret.
    /// - Returns: The bytes, or `nil` if there are none.
    /// - Throws: A ``KeychainError`` if the storage cannot determine whether there is a secret or read its bytes.
    func read(_ secret: SecretAddress) throws -> Data?

    /// Writes or replaces a secret, all or nothing.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - secret: The address of the secret.
    /// - Throws: A ``KeychainError``; the secret is then unchanged.
    func write(_ data: Data, to secret: SecretAddress) throws

    /// Removes a secret, or does nothing if there is none.
    ///
    /// - Parameter secret: The address of the secret.
    /// - Throws: A ``KeychainError``; the secret is then unchanged.
    func remove(_ secret: SecretAddress) throws

    /// Prevents other writers from changing secrets during a closure, as far as the storage supports that.
    ///
    /// ``SecurelyStoredValue`` reads and writes within it, so that a read-modify-write loses no change of another
    /// process. It serializes the threads of this process by itself. The default implementation only calls the closure;
    /// another process can then change the secret between the read and the write.
    ///
    /// - Parameter body: A closure that may use the storage, including this method.
    /// - Returns: The result of `body`.
    /// - Throws: An error of `body`, or a ``KeychainError``.
    func exclusively<Result>(_ body: () throws -> Result) throws -> Result
}

extension SecretStorage {

    public func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        try body()
    }
}
