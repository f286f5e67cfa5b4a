#if SecretService
import Bodega
import Foundation
import TestSupport

@testable import Boutique

extension Keyring {

    /// The storage that programs with the keyring's ``environment`` use.
    ///
    /// - Parameter timeLimit: By default so long that no test reaches it.
    func storage(timeLimit: Duration = .seconds(60)) -> SecretServiceStorage {
        SecretServiceStorage(
            address: address,
            lockFolder: FileManager.Directory(url: dataFolder.appendingPathComponent("emporium/secret-service")),
            timeLimit: timeLimit
        )
    }

    /// A storage whose calls end soon when nothing answers.
    var impatientStorage: SecretServiceStorage { storage(timeLimit: .milliseconds(200)) }
}

/// The secret of the tests, which no error may contain.
let secretBytes = Data("c0ffee-s3cr3t".utf8)

/// The codes of the errors of reading, writing and removing the secret of the tests, `nil` for a call that succeeds.
///
/// Throws if an error contains the secret or lacks its address.
func codes(_ storage: SecretServiceStorage) throws -> [KeychainError.Code?] {
    let calls: [() throws -> Void] = [
        { _ = try storage.read(.test()) }, { try storage.write(secretBytes, to: .test()) },
        { try storage.remove(.test()) },
    ]
    return try calls.map { call in
        do {
            try call()
            return nil
        } catch let error as KeychainError {
            guard !"\(error)".contains("c0ffee"), error.secret == .test() else {
                throw Disagreement(description: "\(error)")
            }
            return error.code
        }
    }
}
#endif
