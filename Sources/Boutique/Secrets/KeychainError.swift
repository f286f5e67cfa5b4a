public import Foundation

/// An error of a secret storage or of ``SecurelyStoredValue``.
///
/// Its cases are Boutique's. Compare ``code`` for details; ``description`` says what to do. Errors contain no secret.
///
/// ```swift
/// do {
///     try $token.set("abc")
/// } catch let error as KeychainError where error.code == .locked {
///     tryAgainAfterUnlocking()
/// }
/// ```
public enum KeychainError: Error, Sendable {

    /// The secret could not be read or stored; ``code`` says why. Patterns may omit the details.
    case couldNotAccessKeychain(Details)

    /// There is no secret, and the operation needs one. Patterns may omit the details.
    case itemNotFound(Details)

    /// The app's entitlements don't allow use of the keychain or of this group. Patterns may omit the details.
    case missingEntitlement(Details)

    /// The keychain returned a status that no other case covers; see ``code``.
    case errorWithStatus(status: Int32)

    /// The kind of failure.
    ///
    /// Later versions may add codes; treat an unknown code like ``other``.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code's stable name.
        public let rawValue: String

        /// Creates a code, for a custom storage with additional kinds of failure.
        ///
        /// - Parameter rawValue: A stable name in lower camel case.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The code's name.
        public var description: String { rawValue }

        /// There is no secret, and the operation needs one. Reading an absent secret returns `nil`.
        public static let notFound = Code(rawValue: "notFound")
        /// The keychain is locked, or other writers did not finish in time. Trying again later may succeed.
        public static let locked = Code(rawValue: "locked")
        /// The storage of the process is suspended; see `StorageSuspension`. Nothing was changed.
        public static let suspended = Code(rawValue: "suspended")
        /// The stored bytes are damaged or are not a value of the expected type. They are still stored.
        public static let undecodable = Code(rawValue: "undecodable")
        /// The value could not be encoded.
        public static let encodingFailed = Code(rawValue: "encodingFailed")
        /// The system denies access.
        public static let accessDenied = Code(rawValue: "accessDenied")
        /// The storage cannot be reached: there is no session bus, no secret service on it, or no server.
        public static let unavailable = Code(rawValue: "unavailable")
        /// The storage did not answer within the time limit. A change may still take effect.
        public static let timedOut = Code(rawValue: "timedOut")
        /// The app's entitlements don't allow it to use the keychain, or not with this group.
        public static let missingEntitlement = Code(rawValue: "missingEntitlement")
        /// A file or folder is not private: other users can read or replace it, or it belongs to another user.
        public static let notPrivate = Code(rawValue: "notPrivate")
        /// There are secrets, but the key that encrypted them is missing.
        public static let masterKeyLost = Code(rawValue: "masterKeyLost")
        /// The key that encrypts the secrets is damaged.
        public static let masterKeyDamaged = Code(rawValue: "masterKeyDamaged")
        /// The storage is read-only.
        public static let readOnly = Code(rawValue: "readOnly")
        /// The volume is full, or a quota has been reached.
        public static let storageFull = Code(rawValue: "storageFull")
        /// Another reason; see ``KeychainError/cause`` and ``KeychainError/status``.
        public static let other = Code(rawValue: "other")
    }

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: A description of the failure, and what to do about it.
    ///   - secret: The address of the secret concerned, if the error concerns one secret.
    ///   - file: The file or folder concerned, if there is one.
    ///   - status: The `OSStatus` of the keychain, if the keychain failed.
    ///   - cause: The underlying error, if there is one.
    public init(
        _ code: Code,
        _ message: String,
        secret: SecretAddress? = nil,
        file: URL? = nil,
        status: Int32? = nil,
        cause: (any Error)? = nil
    ) {
        let details = Details(code, message, secret: secret, file: file, status: status, cause: cause)
        switch code {
        case .notFound: self = .itemNotFound(details)
        case .missingEntitlement: self = .missingEntitlement(details)
        default: self = .couldNotAccessKeychain(details)
        }
    }
}

extension KeychainError: CustomStringConvertible, LocalizedError {
    /// The code, the message, the key, file, status and cause, in one line.
    public var description: String {
        var text = "\(code): \(message)"
        if let secret { text += " [key \(secret.key) of \(secret.service)]" }
        if let file { text += " [\(file.path)]" }
        if let status { text += " [OSStatus \(status)]" }
        if let cause { text += " (\(cause))" }
        return text
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
