public import Foundation

/// An error of a secret storage or of ``SecurelyStoredValue``, whichever storage is behind it.
///
/// Its cases are those of Boutique. Compare ``code`` to react to more; show ``description`` to find out what to do. No
/// secret is ever part of an error.
///
/// ```swift
/// do {
///     try $token.set("abc")
/// } catch let error as KeychainError where error.code == .locked {
///     tryAgainAfterUnlocking()
/// }
/// ```
public enum KeychainError: Error, Sendable {

    /// The secret could not be read or stored; ``code`` says why. Patterns need not name the details.
    case couldNotAccessKeychain(Details)

    /// There is no secret, and the operation needs one. Patterns need not name the details.
    case itemNotFound(Details)

    /// The app's entitlements don't allow it to use the keychain, or not with this group. Patterns need not name the
    /// details.
    case missingEntitlement(Details)

    /// The keychain returned a status that no other case stands for; ``code`` says what is known of it.
    case errorWithStatus(status: Int32)

    /// What kind of failure it was.
    ///
    /// The list can grow; treat an unknown code like ``other``.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code's stable name.
        public let rawValue: String

        /// Creates a code, for storages that know failures of their own.
        ///
        /// - Parameter rawValue: A stable name in lower camel case.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The code's name.
        public var description: String { rawValue }

        /// There is no secret, and the operation needs one. Reading nothing is not an error, it returns `nil`.
        public static let notFound = Code(rawValue: "notFound")
        /// The keychain is locked, or others have been changing its secrets for too long. Trying again later may succeed.
        public static let locked = Code(rawValue: "locked")
        /// The stored bytes are damaged or are not a value of the expected type. They are still stored.
        public static let undecodable = Code(rawValue: "undecodable")
        /// The value could not be encoded.
        public static let encodingFailed = Code(rawValue: "encodingFailed")
        /// The system denies access.
        public static let accessDenied = Code(rawValue: "accessDenied")
        /// The app's entitlements don't allow it to use the keychain, or not with this group.
        public static let missingEntitlement = Code(rawValue: "missingEntitlement")
        /// What must be private is not: others could read or replace it, or it belongs to somebody else.
        public static let notPrivate = Code(rawValue: "notPrivate")
        /// There are secrets but not the key that they were encrypted with.
        public static let masterKeyLost = Code(rawValue: "masterKeyLost")
        /// The key that the secrets are encrypted with is damaged.
        public static let masterKeyDamaged = Code(rawValue: "masterKeyDamaged")
        /// The place can be read but not written.
        public static let readOnly = Code(rawValue: "readOnly")
        /// The volume is full, or a quota is reached.
        public static let storageFull = Code(rawValue: "storageFull")
        /// Another reason; see ``KeychainError/cause`` and ``KeychainError/status``.
        public static let other = Code(rawValue: "other")
    }

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: What kind of failure it was.
    ///   - message: What happened and what can be done about it.
    ///   - secret: Where the secret concerned is, if it was one secret.
    ///   - file: The file or folder concerned, if there is one.
    ///   - status: The `OSStatus` that the keychain answered, if it was the keychain.
    ///   - cause: The error underneath, if there is one.
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
