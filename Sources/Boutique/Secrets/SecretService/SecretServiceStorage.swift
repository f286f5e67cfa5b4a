#if SecretService
import Bodega
public import Foundation

/// A storage of secrets in the keyring of a Linux desktop: the Secret Service of freedesktop.org, which GNOME Keyring
/// and KDE Wallet provide on the session bus. It is tested with GNOME Keyring.
///
/// It needs the package trait `SecretService` and the system library GLib. It is never the default, so pass it:
///
/// ```swift
/// @SecurelyStoredValue<String>(key: "token", storage: SecretServiceStorage()) var token
/// ```
///
/// Programs on servers, in containers and in SSH sessions have no such service; use ``EncryptedFileSecretStorage``
/// there.
///
/// **It protects against** what the user's keyring protects against: the service encrypts its files with the user's
/// password, and can be locked. **It does not protect against** programs of the same user and root, which can read an
/// unlocked keyring. The session bus transports secrets unencrypted, over a socket that only the user can open.
///
/// Secrets are in the default collection of the service, which users can see and remove in their application for
/// passwords. Only items with the attribute `xdg:schema` of this storage and exactly the address of the secret are
/// read, replaced or removed. Addresses are compared byte by byte. Values are any bytes; the service decides about
/// their size. GNOME Keyring keeps values of a megabyte, and rewrites its file with all secrets at each change.
///
/// **When something fails**, the code of the ``KeychainError`` distinguishes:
///
/// | code | what happened |
/// |---|---|
/// | `locked` | The collection is locked, or the service wants to ask the user first. No call waits for the user. |
/// | `accessDenied` | The bus or the service denies access. |
/// | `unavailable` | There is no session bus, no service on it, or no default collection. |
/// | `timedOut` | The service or the bus did not answer within the time limit, for example because it is stopped. |
///
/// An absent secret is `nil` and not an error. A service that could not be started until now is tried again by the next
/// call, and so is one that has ended and was started again.
///
/// A write or removal that throws `timedOut`, or `unavailable` because the service ended during the call, may still
/// take effect. After all other errors the secret is unchanged.
///
/// **Several threads and processes** can use the service concurrently: each write is atomic. Writers of this storage
/// exclude each other by a lock in the user's data folder, so ``exclusively(_:)`` works between processes that have the
/// same data folder. Other programs that change the secrets are not excluded.
public struct SecretServiceStorage: SecretStorage {
    private let address: String?
    private let lockFolder: FileManager.Directory
    private let timeLimit: Duration

    /// The name of the session bus.
    public let scope: String

    /// Creates a storage without connecting to the service.
    ///
    /// The session bus is that of the environment: `DBUS_SESSION_BUS_ADDRESS`, or the socket `bus` in
    /// `XDG_RUNTIME_DIR`.
    ///
    /// - Parameter timeLimit: How long a call waits for the service, and before that, if it changes a secret, for other
    ///   writers. By default, 10 seconds.
    public init(timeLimit: Duration = .seconds(10)) {
        self.init(
            address: SessionBus.address(in: ProcessInfo.processInfo.environment),
            lockFolder: .applicationSupport(appendingPath: "emporium/secret-service"),
            timeLimit: timeLimit
        )
    }

    /// - Parameters:
    ///   - address: The address of the session bus, if there is one.
    ///   - lockFolder: The folder with the lock of the writers. A missing folder is created.
    ///   - timeLimit: How long a call waits for the service, and for other writers.
    init(address: String?, lockFolder: FileManager.Directory, timeLimit: Duration) {
        self.address = address
        self.lockFolder = lockFolder
        self.timeLimit = timeLimit
        scope = "secret-service:" + (address ?? "")
    }

    public func read(_ secret: SecretAddress) throws -> Data? {
        try withCollection(secret) { try $0.read(SecretItem(secret)) }
    }

    public func write(_ data: Data, to secret: SecretAddress) throws {
        try exclusively { try withCollection(secret) { try $0.write(data, to: SecretItem(secret)) } }
    }

    public func remove(_ secret: SecretAddress) throws {
        try exclusively { try withCollection(secret) { try $0.remove(SecretItem(secret)) } }
    }

    public func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        try SecretFolder.exclusively(lockFolder.url.standardizedFileURL.path, LockTimeout(timeLimit), body)
    }

    /// Connects to the service and runs a closure with its default collection, all of it within the time limit.
    private func withCollection<Result: Sendable>(
        _ secret: SecretAddress, _ body: @escaping @Sendable (SecretCollection) throws -> Result
    ) throws -> Result {
        try KeychainError.wrapping(secret) {
            guard let address else { throw KeychainError.noSessionBus }
            return try TimeLimit.run(timeLimit) { cancellation in
                try body(SecretCollection(SecretServiceConnection(address, cancellation)))
            }
        }
    }
}
#endif
