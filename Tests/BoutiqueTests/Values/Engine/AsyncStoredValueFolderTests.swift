import Bodega
import Boutique
import Foundation
import Logging
import TestSupport
import Testing

/// Values in a folder, which several engines and wrappers change.
@MainActor @Suite struct AsyncStoredValueFolderTests {

    private let folder = TemporaryFolder()
    private let keyset = EncryptionKeyset()

    /// Two engines for the folder, each in the wrapper of a name.
    private func engines(_ wrapper: String) throws -> [any StorageEngine] {
        let shared = try DiskStorageEngine(opening: folder.directory, durability: .relaxed)
        return try (0..<2).map { _ -> any StorageEngine in
            switch wrapper {
            case "two engines": try DiskStorageEngine(opening: folder.directory, durability: .relaxed)
            case "cached": shared.cached()
            case "encrypted": shared.encrypted(with: keyset)
            case "expiring": shared.expiring(after: .seconds(3_600))
            case "limited": shared.limited(count: 10)
            case "logged": shared.logged(by: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }, level: .trace)
            case "mirrored": shared.mirrored(to: MemoryStorageEngine())
            case "prefixed": shared.prefixed("values/")
            default: shared.retrying()
            }
        }
    }

    @Test(arguments: [
        "two engines", "cached", "encrypted", "expiring", "limited", "logged", "mirrored", "prefixed", "retrying",
    ])
    func `Concurrent changes of a value through several engines for one folder lose none`(wrapper: String) async throws
    {
        let values = try engines(wrapper).map { AsyncStoredValue(key: "number", default: 0, storage: $0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 { group.addTask { try await values[number % 2].modify { $0 += 1 } } }
            try await group.waitForAll()
        }
        // Not through the same cache, which does not follow a folder.
        let value = AsyncStoredValue(key: "number", default: 0, storage: try engines(wrapper)[0])
        try await value.reload()
        #expect(value.wrappedValue == 200)
    }
}
