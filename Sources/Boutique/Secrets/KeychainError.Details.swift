public import Foundation

extension KeychainError {

    /// What is known of a failure.
    public struct Details: Sendable {
        var code: Code
        var message: String
        var secret: SecretAddress?
        var file: URL?
        var status: Int32?
        var cause: (any Error)?

        init(
            _ code: Code,
            _ message: String,
            secret: SecretAddress? = nil,
            file: URL? = nil,
            status: Int32? = nil,
            cause: (any Error)? = nil
        ) {
            self.code = code
            self.message = message
            self.secret = secret
            self.file = file
            self.status = status
            self.cause = cause
        }
    }

    private var details: Details {
        get {
            switch self {
            case .couldNotAccessKeychain(let details), .itemNotFound(let details), .missingEntitlement(let details):
                details
            case .errorWithStatus(let status):
                Details(status: status)
            }
        }
        set {
            switch self {
            case .couldNotAccessKeychain: self = .couldNotAccessKeychain(newValue)
            case .itemNotFound: self = .itemNotFound(newValue)
            case .missingEntitlement: self = .missingEntitlement(newValue)
            // It has room for nothing else.
            case .errorWithStatus: break
            }
        }
    }

    /// What kind of failure it was.
    public var code: Code { details.code }

    /// What happened and what can be done about it.
    public var message: String { details.message }

    /// Where the secret concerned is, if it was one secret, and if it is not ``errorWithStatus(status:)``.
    public internal(set) var secret: SecretAddress? {
        get { details.secret }
        set { details.secret = newValue }
    }

    /// The file or folder concerned, if there is one.
    public internal(set) var file: URL? {
        get { details.file }
        set { details.file = newValue }
    }

    /// The `OSStatus` that the keychain answered, if it was the keychain.
    public var status: Int32? { details.status }

    /// The error underneath, if there is one.
    public var cause: (any Error)? { details.cause }
}

// The cases as Boutique has them, to throw them. Where neither is expected, as after `let error =`, name the type.
extension KeychainError {

    /// ``couldNotAccessKeychain(_:)`` without details.
    public static var couldNotAccessKeychain: KeychainError {
        .couldNotAccessKeychain(Details(.other, "The keychain could not be accessed."))
    }

    /// ``itemNotFound(_:)`` without details.
    public static var itemNotFound: KeychainError {
        .itemNotFound(Details(.notFound, "There is no such item in the keychain."))
    }

    /// ``missingEntitlement(_:)`` without details.
    public static var missingEntitlement: KeychainError {
        .missingEntitlement(Details(.missingEntitlement, "The app may not use the keychain, or not with this group."))
    }
}
