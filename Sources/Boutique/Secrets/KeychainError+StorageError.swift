import Bodega

extension KeychainError {

    /// Says as an error of secrets what went wrong with a file or a value.
    init(_ error: StorageError, secret: SecretAddress?) {
        let code: Code =
            switch error.code {
            case .permissionDenied: .accessDenied
            case .locked: .locked
            case .readOnly: .readOnly
            case .storageFull: .storageFull
            case .encodingFailed: .encodingFailed
            case .decodingFailed, .damaged: .undecodable
            default: .other
            }
        self.init(code, error.message, secret: secret, file: error.file, cause: error.cause)
    }

    /// Does something with files; if it fails, the error tells which secret it was about.
    static func telling<Result>(_ secret: SecretAddress?, _ body: () throws -> Result) throws -> Result {
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
