import Boutique
import Foundation

/// An in-memory storage of secrets with injected read and write errors.
final class FaultySecretStorage: SecretStorage {
    private let memory = MemorySecretStorage()
    private let readFault = Locked<KeychainError?>(nil)
    private let writeFault = Locked<KeychainError?>(nil)

    var scope: String { memory.scope }

    func failReading(_ code: KeychainError.Code?) {
        readFault.withLock { $0 = code.map { KeychainError($0, "Injected by the test.") } }
    }

    func failWriting(_ code: KeychainError.Code?) {
        writeFault.withLock { $0 = code.map { KeychainError($0, "Injected by the test.") } }
    }

    func read(_ secret: SecretAddress) throws -> Data? {
        if let error = readFault.withLock({ $0 }) { throw error }
        return memory.read(secret)
    }

    func write(_ data: Data, to secret: SecretAddress) throws {
        if let error = writeFault.withLock({ $0 }) { throw error }
        memory.write(data, to: secret)
    }

    func remove(_ secret: SecretAddress) throws {
        if let error = writeFault.withLock({ $0 }) { throw error }
        memory.remove(secret)
    }
}
