@testable import BodegaCommands
import Bodega
import Foundation
import Testing

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

@Suite("A store named by an argument")
struct StoreArgumentTests {

    @Test("has the collection that the address or the option names")
    func collections() throws {
        #expect(try StorageAddress(argument: "sqlite:a#b") == .sqlite("a", collection: "b"))
        #expect(try StorageAddress(argument: "sqlite:a", collection: "b#") == .sqlite("a", collection: "b#"))
        #expect(try StorageAddress(argument: "sqlite:a#b", collection: "b") == .sqlite("a", collection: "b"))
    }

    @Test(
        "is an error with exit status 64 if it is invalid or conflicts with the option",
        arguments: [
            ("", nil), ("sqlite:", nil), ("no:such-thing", nil), ("memory:", nil), ("disk:a", "b"), ("sqlite:a", ""),
            ("sqlite:a#b", "c"),
        ] as [(String, String?)]
    )
    func unclear(_ text: String, collection: String?) {
        #expect { try StorageAddress(argument: text, collection: collection) } throws: {
            ($0 as? ToolError)?.status == .usage
        }
    }

    @Test("is closed after its use, even if that fails", arguments: [true, false])
    func closing(isFailing: Bool) async throws {
        try await withFolder { folder in
            for address in storeAddresses {
                let store = try await StorageAddress(argument: address(folder)).openOrCreate()
                let result: Result<Void, any Error>
                do {
                    try await store.use { store in
                        try await store.engine.write(Data([1]), key: CacheKey("k"))
                        if isFailing { throw BrokenPipe() }
                    }
                    result = .success(())
                } catch {
                    result = .failure(error)
                }
                #expect((result.failure is BrokenPipe) == isFailing)
                let left = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
                let open = left.filter { $0.hasSuffix("-wal") || $0.hasSuffix("-shm") || $0.hasSuffix(".emporium") }
                #expect(open == [])
                guard let sqlite = store.sqlite else { continue }
                await #expect(throws: StorageError.self) { try await sqlite.fetchCount() }
            }
        }
    }
}
