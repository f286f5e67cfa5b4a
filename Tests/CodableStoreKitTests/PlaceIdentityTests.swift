import BodegaTesting
import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// One folder is one place, under whatever path it is opened.
@Suite struct PlaceIdentityTests {

    private let folder = TemporaryFolder()

    private func engine(_ medium: Medium, _ path: String) -> CodableStore<User>.Engine {
        let directory = FileManager.Directory(url: URL(fileURLWithPath: path, isDirectory: true))
        return medium == .files ? .fileSystem(in: directory) : .sqlite(in: directory)
    }

    /// Names the folder `data`, which need not be there yet, by a link to it.
    private func link() throws -> String {
        let link = folder.file("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.file("data"))
        return link.path
    }

    /// Other paths of the folder `data`.
    private func paths() throws -> [String] {
        let data = folder.file("data").path
        return [
            try link(), data + "/", data + "/../data", folder.path + "//data/.", try link(in: "links") + "/data",
            data + "/x/..",
        ]
    }

    /// A path of the folder that holds `data`, through a link to it.
    private func link(in name: String) throws -> String {
        let link = folder.file(name)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url)
        return link.path
    }

    @Test("Observers of a folder are called for what is saved through another path of it", arguments: Medium.onDisk)
    func observers(medium: Medium) throws {
        let data = folder.file("data").path
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        let store = CodableStore<User>(engine: engine(medium, data))
        let events = Events<User>()
        store.observeCollection(events.add)
        let paths = try paths()
        for (number, path) in paths.enumerated() {
            let other = CodableStore<User>(engine: engine(medium, path))
            let othersEvents = Events<User>()
            other.observeCollection(othersEvents.add)
            try other.save(User(number))
            try store.delete(identifier: "\(number)")
            #expect(othersEvents.all == ["saved \(number)", "deleted \(number)"], "\(path)")
        }
        #expect(events.all == paths.indices.flatMap { ["saved \($0)", "deleted \($0)"] })
    }

    @Test("The same holds for a folder that is made by the first save", arguments: Medium.onDisk)
    func missingFolder(medium: Medium) throws {
        let store = CodableStore<User>(engine: engine(medium, folder.path + "/data"))
        let other = CodableStore<User>(engine: engine(medium, try link(in: "links") + "/data"))
        let events = Events<User>()
        store.observeCollection(events.add)
        try other.save(User(1))
        try CodableStore<User>(engine: engine(medium, folder.path + "/links/data")).save(User(2))
        try store.save(User(3))
        #expect(events.all == ["saved 1", "saved 2", "saved 3"])
        #expect(try other.getCollection() == [User(1), User(2), User(3)])
    }

    @Test("Folders whose names differ in any byte are different places", arguments: Medium.onDisk)
    func spellings(medium: Medium) throws {
        let paths = ["caf\u{e9}", "cafe\u{301}", "\u{301}", "50%\u{301}", "50%"].map { folder.file($0).path }
        let stores = paths.map { CodableStore<User>(engine: engine(medium, $0)) }
        let names = try paths.map { path in
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            return try folder.names().count
        }
        // A volume that takes two spellings for one name has one folder for both.
        guard names == Array(1...paths.count) else { return }
        for (number, store) in stores.enumerated() { try store.save(User(number)) }
        for (number, store) in stores.enumerated() { #expect(try store.getCollection() == [User(number)]) }
    }

    @Test("An observer that waits for a folder to be usable begins when it is opened under another path")
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
