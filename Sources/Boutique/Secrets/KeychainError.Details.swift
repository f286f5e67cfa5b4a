public import Foundation

extension KeychainError {

    /// The details of a failure.
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
            // This case has no room for details.
            case .errorWithStatus: break
            }
        }
    }

    /// The kind of failure.
    public var code: Code { details.code }

    /// A description of the failure, and what to do about it.
    public var message: String { details.message }

    /// The address of the secret concerned, if the error concerns one secret and is not ``errorWithStatus(status:)``.
    public internal(set) var secret: SecretAddress? {
        get { details.secret }
        set { details.secret = newValue }
    }

    /// The file or folder concerned, if there is one.
    public internal(set) var file: URL? {
        get { details.file }
        set { details.file = newValue }
    }

    /// The `OSStatus` of the keychain, if the keychain failed.
    public var status: Int32? { details.status }

    /// The underlying error, if there is one.
    public var cause: (any Error)? { details.cause }
}

// The cases without details, as in Boutique. Where the type cannot be inferred, as after `let error =`, write it.
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
