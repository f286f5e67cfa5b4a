public import Foundation

/// A place that keeps secrets: the keychain, encrypted files, or one of your own.
///
/// Its functions may block for a short time and may be called from any thread. They throw a ``KeychainError`` whose code
/// tells what kind of failure it was, so that ``SecurelyStoredValue`` behaves the same over all of them.
///
/// A storage of your own implements ``scope``, ``read(_:)``, ``write(_:to:)`` and ``remove(_:)``. If it can keep other
/// processes out meanwhile, it also implements ``exclusively(_:)``.
public protocol SecretStorage: Sendable {

    /// Names the place. Storages with the same scope hold the same secrets, so a value that is set through one of them
    /// has changed for those who observe it through another.
    var scope: String { get }

    /// Reads a secret.
    ///
    /// It must not wait for ``exclusively(_:)`` or for a write to end.
    ///
    /// - Parameter secret: Where it is.
    /// - Returns: The bytes, or `nil` if there are none.
    /// - Throws: A ``KeychainError`` if it is not known whether there is a secret, or its bytes cannot be had.
    func read(_ secret: SecretAddress) throws -> Data?

    /// Writes a secret in place of the one before, whole or not at all.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - secret: Where they belong.
    /// - Throws: A ``KeychainError``; the secret is then what it was.
    func write(_ data: Data, to secret: SecretAddress) throws

    /// Removes a secret. It is no failure if there is none.
    ///
    /// - Parameter secret: Where it is.
    /// - Throws: A ``KeychainError``; the secret is then still there.
    func remove(_ secret: SecretAddress) throws

    /// Lets nobody else change secrets during a closure, as far as the storage can see to that.
    ///
    /// ``SecurelyStoredValue`` reads and writes within it, so that a change which depends on the value before is not
    /// lost. Threads of this process don't need it for that: the values that share a storage take turns. The default just
    /// calls the closure; then another process can come in between.
    ///
    /// - Parameter body: May use the storage, this function included.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or a ``KeychainError``.
    func exclusively<Result>(_ body: () throws -> Result) throws -> Result
}

extension SecretStorage {

    public func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        try body()
    }
}
