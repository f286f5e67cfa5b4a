import Bodega

extension KeychainError {

    /// Converts an error of a file or a value.
    init(_ error: StorageError, secret: SecretAddress?) {
        let code: Code =
            switch error.code {
            case .permissionDenied: .accessDenied
            case .locked: .locked
            case .suspended: .suspended
            case .readOnly: .readOnly
            case .storageFull: .storageFull
            case .encodingFailed: .encodingFailed
            case .unreachable: .unavailable
            case .timedOut: .timedOut
            case .decodingFailed, .damaged: .undecodable
            default: .other
            }
        self.init(code, error.message, secret: secret, file: error.file, cause: error.cause)
    }

    /// Runs a closure, converts its storage errors and adds the secret concerned to its errors.
    static func wrapping<Result>(_ secret: SecretAddress?, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as StorageError {
            throw KeychainError(error, secret: secret)
        } catch var error as KeychainError {
            error.secret = error.secret ?? secret
            throw error
        }
    }
}
