import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@Suite struct CollectionNameTests {

    private let folder = TemporaryFolder()
    private var file: URL { folder.file("data.sqlite3") }

    @Test("Collections whose names differ in any byte hold different items, even after they are reopened")
    func names() async throws {
        let names = HostileTexts.all.filter { !$0.isEmpty }
        let engine = try SQLiteStorageEngine(openingFile: file)
        let key = CacheKey("name")
        for name in names { try await engine.collection(named: name).write(Data(name.utf8), key: key) }
        #expect(try await engine.collectionNames().map { Data($0.utf8) } == names.map { Data($0.utf8) })
        for name in names {
            let engines =
                [
                    try engine.collection(named: name),
                    try SQLiteStorageEngine(openingFile: file, collection: name, mustExist: true),
                    try SQLiteStorageEngine(readingFile: file, collection: name),
                    try StorageAddress.sqlite(file.path, collection: name).open(mustExist: true),
                ] as [any StorageEngine]
            for engine in engines {
                #expect(try await engine.fetchAllData() == [Data(name.utf8)], "\(name.debugDescription.prefix(80))")
            }
        }
        #expect(try await engine.fetchCount() == 0)
    }

    @Test(
        "A collection is not found under a name that only looks like its own",
        arguments: ["a\0", "a\0b", "\0", "e\u{301}"])
    func absent(name: String) throws {
        let engine = try SQLiteStorageEngine(openingFile: file)
        for other in ["a", "\u{e9}", " "] { _ = try engine.collection(named: other) }
        #expect { try SQLiteStorageEngine(openingFile: self.file, collection: name, mustExist: true) } throws: {
            ($0 as? StorageError)?.code == .cannotOpen
        }
        #expect { try SQLiteStorageEngine(readingFile: self.file, collection: name) } throws: {
            ($0 as? StorageError)?.code == .cannotOpen
        }
    }
}
