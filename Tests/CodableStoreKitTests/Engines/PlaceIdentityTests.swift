import BodegaTesting
import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// Different paths of one folder are the same location.
@Suite struct PlaceIdentityTests {

    private let folder = TemporaryFolder()

    private func engine(_ kind: EngineKind, _ path: String) -> CodableStore<User>.Engine {
        let directory = FileManager.Directory(url: URL(fileURLWithPath: path, isDirectory: true))
        return kind == .files ? .fileSystem(in: directory) : .sqlite(in: directory)
    }

    /// Creates a link to the folder `data`, which need not exist yet, and returns its path.
    private func link() throws -> String {
        let link = folder.file("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.file("data"))
        return link.path
    }

    /// Returns other paths of the folder `data`.
    private func paths() throws -> [String] {
        let data = folder.file("data").path
        return [
            try link(), data + "/", data + "/../data", folder.path + "//data/.", try link(in: "links") + "/data",
            data + "/x/..",
        ]
    }

    /// Creates a link to the parent folder of `data`, and returns its path.
    private func link(in name: String) throws -> String {
        let link = folder.file(name)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url)
        return link.path
    }

    @Test(
        "Observers of a folder are notified of objects saved through another path of it", arguments: EngineKind.onDisk)
    func observers(kind: EngineKind) throws {
        let data = folder.file("data").path
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        let store = CodableStore<User>(engine: engine(kind, data))
        let events = Events<User>()
        store.observeCollection(events.add)
        let paths = try paths()
        for (number, path) in paths.enumerated() {
            let other = CodableStore<User>(engine: engine(kind, path))
            let othersEvents = Events<User>()
            other.observeCollection(othersEvents.add)
            try other.save(User(number))
            try store.delete(identifier: "\(number)")
            #expect(othersEvents.all == ["saved \(number)", "deleted \(number)"], "\(path)")
        }
        #expect(events.all == paths.indices.flatMap { ["saved \($0)", "deleted \($0)"] })
    }

    @Test("The same holds for a folder that does not exist before the first save", arguments: EngineKind.onDisk)
    func missingFolder(kind: EngineKind) throws {
        let store = CodableStore<User>(engine: engine(kind, folder.path + "/data"))
        let other = CodableStore<User>(engine: engine(kind, try link(in: "links") + "/data"))
        let events = Events<User>()
        store.observeCollection(events.add)
        try other.save(User(1))
        try CodableStore<User>(engine: engine(kind, folder.path + "/links/data")).save(User(2))
        try store.save(User(3))
        #expect(events.all == ["saved 1", "saved 2", "saved 3"])
        #expect(try other.getCollection() == [User(1), User(2), User(3)])
    }

    @Test("Folders whose names differ in any byte are different locations", arguments: EngineKind.onDisk)
    func spellings(kind: EngineKind) throws {
        let paths = ["caf\u{e9}", "cafe\u{301}", "\u{301}", "50%\u{301}", "50%"].map { folder.file($0).path }
        let stores = paths.map { CodableStore<User>(engine: engine(kind, $0)) }
        let names = try paths.map { path in
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            return try folder.names().count
        }
        // On a volume that considers two spellings equal, they are one folder.
        guard names == Array(1...paths.count) else { return }
        for (number, store) in stores.enumerated() { try store.save(User(number)) }
        for (number, store) in stores.enumerated() { #expect(try store.getCollection() == [User(number)]) }
    }

    @Test("A pending observer of a folder begins when the folder is opened through another path")
    func pendingObservers() throws {
        let data = folder.file("data")
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        let file = data.appendingPathComponent("CodableStoreKit.sqlite3")
        try Data(repeating: 7, count: 4096).write(to: file)
        let events = Events<User>()
        CodableStore<User>(engine: engine(.sqlite, data.path)).observeCollection(events.add)
        try FileManager.default.removeItem(at: file)
        try CodableStore<User>(engine: engine(.sqlite, try link())).save(User(1))
        try CodableStore<User>(engine: engine(.sqlite, try link(in: "links") + "/data")).save(User(2))
        #expect(events.all == ["saved 1", "saved 2"])
    }
}
