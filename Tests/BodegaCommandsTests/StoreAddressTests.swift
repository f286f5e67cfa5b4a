@testable import BodegaCommands
import Bodega
import Foundation
import Testing

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

@Suite("A store's address")
struct StoreAddressTests {

    @Test(
        "with a scheme means what it says",
        arguments: [
            ("sqlite:a.txt", .sqlite, "a.txt"), ("disk:/x/y.db", .disk, "/x/y.db"), ("disk:disk:a", .disk, "disk:a"),
        ]
            as [(String, StoreAddress.Engine, String)]
    )
    func scheme(_ text: String, engine: StoreAddress.Engine, path: String) throws {
        #expect(try StoreAddress(parsing: text) == StoreAddress(engine: engine, path: path))
    }

    @Test("that begins with a tilde is in the home folder")
    func home() throws {
        #expect(try StoreAddress(parsing: "sqlite:~/a").path == NSHomeDirectory() + "/a")
        #expect(try StoreAddress(parsing: "~/no-such-file.db").path == NSHomeDirectory() + "/no-such-file.db")
    }

    @Test("without a scheme is told by what is there")
    func inspection() async throws {
        try await withFolder { folder in
            #expect(try StoreAddress(parsing: folder.path).engine == .disk)
            let file = folder.appendingPathComponent("odd.name")
            try Data("SQLite format 3\0more".utf8).write(to: file)
            #expect(try StoreAddress(parsing: file.path).engine == .sqlite)
            try Data("SQLite format 4\0more".utf8).write(to: file)
            #expect(throws: ToolError.self) { try StoreAddress(parsing: file.path) }
            let empty = folder.appendingPathComponent("empty.db")
            try Data().write(to: empty)
            #expect(try StoreAddress(parsing: empty.path).engine == .sqlite)
            let text = folder.appendingPathComponent("text.db")
            try Data("text".utf8).write(to: text)
            #expect(throws: ToolError.self) { try StoreAddress(parsing: text.path) }
            for name in ["new.sqlite3", "new.sqlite", "new.db", "new.DB"] {
                #expect(try StoreAddress(parsing: folder.appendingPathComponent(name).path).engine == .sqlite)
            }
        }
    }

    @Test("leads to a store that is closed after its use, also if that fails", arguments: [true, false])
    func closing(isFailing: Bool) async throws {
        try await withFolder { folder in
            for address in storeAddresses {
                let store = try StoreAddress(parsing: address(folder)).open()
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
                #expect(!left.contains { $0.hasSuffix("-wal") || $0.hasSuffix("-shm") || $0.hasSuffix(".emporium") })
                guard let sqlite = store.sqlite else { continue }
                await #expect(throws: StorageError.self) { try await sqlite.fetchCount() }
            }
        }
    }

    @Test(
        "that tells nothing is an error with exit status 64",
        arguments: ["", "sqlite:", "disk:", "no-such-thing", "ftp:x"])
    func unclear(_ text: String) {
        #expect { try StoreAddress(parsing: text) } throws: { ($0 as? ToolError)?.status == .usage }
    }
}
