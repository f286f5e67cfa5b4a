import Bodega
import BodegaSync
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// What follows from removals by references, on devices that are synchronized.
@Suite struct ReferenceSyncTests {
    /// Where a device keeps its items.
    enum Place: CaseIterable { case memory, file }

    private struct Device {
        let sync: StorageSync
        let folders: SyncedStorageEngine
        let notes: SyncedStorageEngine

        func put(_ json: String, _ key: String, in engine: SyncedStorageEngine) async throws {
            try await engine.write(Data(json.utf8), key: CacheKey(verbatim: key))
        }

        func texts(_ engine: any StorageEngine) async throws -> [String] {
            try await engine.fetchAll().map { "\($0.key.rawValue) \(String(decoding: $0.data, as: UTF8.self))" }
                .sorted()
        }
    }

    private let server = MemoryStorageEngine()
    private let remote: ScriptedRemote
    private let folder = TemporaryFolder()

    init() { remote = ScriptedRemote(server) }

    private func device(_ place: Place, _ name: String, _ references: [StorageReference]) async throws -> Device {
        let local: @Sendable (String) throws -> any StorageEngine
        switch place {
        case .memory:
            let memory = MemoryStorageEngine()
            local = { memory.collection(named: $0) }
        case .file:
            let file = try SQLiteStorageEngine(openingFile: folder.file(name + ".sqlite3"))
            local = { try file.collection(named: $0) }
        }
        let sync = try await StorageSync(local: local, remote: remote)
        let device = Device(
            sync: sync, folders: try await sync.collection(named: "folders"),
            notes: try await sync.collection(named: "notes"))
        try await device.notes.references?.declareReferences(references)
        return device
    }

    private func declareOnServer(_ references: [StorageReference]) async throws {
        try await server.collection(named: "notes").declareReferences(references)
    }

    /// Synchronizes devices until none of them has anything for another.
    private func settle(_ devices: [Device]) async throws {
        for _ in 0..<2 { for device in devices { try await device.sync.settled() } }
    }

    /// The items of all devices and of the server, which must be the same.
    private func shared(_ devices: [Device]) async throws -> (folders: [String], notes: [String]) {
        try await settle(devices)
        let folders = try await devices[0].texts(server.collection(named: "folders"))
        let notes = try await devices[0].texts(server.collection(named: "notes"))
        for device in devices {
            #expect(try await device.texts(device.folders) == folders)
            #expect(try await device.texts(device.notes) == notes)
            #expect(try await device.sync.pending().isEmpty)
        }
        return (folders, notes)
    }

    private static let note = #"{"id":"n","folder":"f"}"#
    private static let cleared = #"{"id":"n","folder":null}"#

    /// Two devices and a server with a folder and its note.
    private func devices(
        _ place: Place, _ removal: StorageReference.Removal, onServer: Bool
    ) async throws -> [Device] {
        let reference = StorageReference("folder", to: "folders", onRemoval: removal)
        if onServer { try await declareOnServer([reference]) }
        let devices = [try await device(place, "ada", [reference]), try await device(place, "bob", [reference])]
        try await devices[0].put(#"{"id":"f","name":"Work"}"#, "f", in: devices[0].folders)
        try await devices[0].put(Self.note, "n", in: devices[0].notes)
        try await settle(devices)
        await devices[0].sync.pause()
        return devices
    }

    @Test(arguments: Place.allCases, [true, false])
    func `What a removal takes with it is the same everywhere`(_ place: Place, onServer: Bool) async throws {
        let devices = try await devices(place, .remove, onServer: onServer)
        try await devices[0].folders.remove(key: CacheKey(verbatim: "f"))
        #expect(try await devices[0].notes.fetchCount() == 0)
        #expect(try await devices[0].sync.pending().count == 2)
        await devices[0].sync.resume()
        #expect(try await shared(devices) == ([], []))
    }

    @Test(arguments: Place.allCases, [true, false])
    func `A reference that a removal clears is cleared everywhere`(_ place: Place, onServer: Bool) async throws {
        let devices = try await devices(place, .clear, onServer: onServer)
        try await devices[0].folders.remove(key: CacheKey(verbatim: "f"))
        await devices[0].sync.resume()
        #expect(try await shared(devices) == ([], ["n \(Self.cleared)"]))
        #expect(try await devices[0].sync.conflicts().isEmpty)
    }

    @Test(arguments: [StorageReference.Removal.remove, .clear], [true, false])
    func `What a removal has taken with it does not come back with a new item`(
        _ removal: StorageReference.Removal, onServer: Bool
    ) async throws {
        let devices = try await devices(.memory, removal, onServer: onServer)
        try await devices[0].folders.remove(key: CacheKey(verbatim: "f"))
        try await devices[0].put(#"{"id":"f","name":"Work"}"#, "f", in: devices[0].folders)
        await devices[0].sync.resume()
        let (folders, notes) = try await shared(devices)
        #expect(folders == [#"f {"id":"f","name":"Work"}"#])
        #expect(notes == (removal == .remove ? [] : ["n \(Self.cleared)"]))
    }

    @Test(arguments: [StorageReference.Removal.remove, .clear], [true, false])
    func `What a removal has taken with it comes back if another's change overrules the removal`(
        _ removal: StorageReference.Removal, onServer: Bool
    ) async throws {
        for place in Place.allCases {
            let devices = try await devices(place, removal, onServer: onServer)
            try await devices[0].folders.remove(key: CacheKey(verbatim: "f"))
            try await devices[1].put(#"{"id":"f","name":"Job"}"#, "f", in: devices[1].folders)
            try await devices[1].sync.settled()
            await devices[0].sync.resume()
            let (folders, notes) = try await shared(devices)
            #expect(folders == [#"f {"id":"f","name":"Job"}"#])
            #expect(notes == ["n \(Self.note)"])
            for collection in ["folders", "notes"] { try await server.collection(named: collection).removeAllData() }
            try await settle(devices)
        }
    }

    /// The first request does not arrive as it was, because the folder was changed in the meantime.
    @Test func `Items below a removal that is overruled on its way come back`() async throws {
        let devices = try await devices(.memory, .remove, onServer: true)
        let gate = SyncGate()
        remote.change { $0.beforeApplying = { batch in if batch.changes.count > 1 { await gate.pass() } } }
        try await devices[0].folders.remove(key: CacheKey(verbatim: "f"))
        await devices[0].sync.resume()
        await gate.arrival()
        try await server.collection(named: "folders").write(
            Data(#"{"id":"f","name":"Job"}"#.utf8), key: CacheKey(verbatim: "f"))
        gate.open()
        let (folders, notes) = try await shared(devices)
        #expect(folders == [#"f {"id":"f","name":"Job"}"#])
        #expect(notes == ["n \(Self.note)"])
    }

    @Test(arguments: [true, false])
    func `An item that another has changed stays, and one that another has moved away, too`(
        onServer: Bool
    ) async throws {
        let devices = try await devices(.memory, .remove, onServer: onServer)
        try await devices[0].folders.remove(key: CacheKey(verbatim: "f"))
        try await devices[1].put(#"{"id":"n","folder":null,"text":"moved"}"#, "n", in: devices[1].notes)
        try await devices[1].sync.settled()
        await devices[0].sync.resume()
        let (folders, notes) = try await shared(devices)
        #expect(folders == [])
        #expect(notes == [#"n {"id":"n","folder":null,"text":"moved"}"#])
    }

    @Test func `A removal that an item refuses changes nothing, not even the outbox`() async throws {
        let devices = try await devices(.file, .refuse, onServer: false)
        await #expect {
            try await devices[0].folders.remove(key: CacheKey(verbatim: "f"))
        } throws: {
            ($0 as? StorageError)?.code == .referenced
        }
        #expect(try await devices[0].sync.pending().isEmpty)
        // Together with the item that names it, it is removed.
        _ = try await StorageBatchGroup.apply([
            (devices[0].folders, StorageBatch([.remove(key: CacheKey(verbatim: "f"))])),
            (devices[0].notes, StorageBatch([.remove(key: CacheKey(verbatim: "n"))])),
        ])
        await devices[0].sync.resume()
        #expect(try await shared(devices) == ([], []))
    }

    @Test func `A parked removal is discarded with what it has taken with it`() async throws {
        let devices = try await devices(.memory, .remove, onServer: false)
        let refusal = StorageError(.permissionDenied, "No.")
        remote.change { $0.beforeApplying = { _ in throw refusal } }
        try await devices[0].folders.remove(key: CacheKey(verbatim: "f"))
        await devices[0].sync.resume()
        try await devices[0].sync.settled()
        let parked = try await devices[0].sync.parked()
        #expect(Set(parked.map(\.key)) == [CacheKey(verbatim: "f"), CacheKey(verbatim: "n")])
        try await devices[0].sync.discard(CacheKey(verbatim: "f"), in: "folders")
        remote.change { $0.beforeApplying = { _ in } }
        #expect(try await shared(devices).notes == ["n \(Self.note)"])
    }

    @Test func `What follows from several removals is sent with each, and one by one if it is too much`() async throws {
        let devices = try await devices(.file, .remove, onServer: false)
        let ada = devices[0]
        for number in 0..<3 { try await ada.put(#"{"id":"\#(number)"}"#, "\(number)", in: ada.folders) }
        let count = remote.maximumItems + 5
        var operations: [StorageOperation] = []
        for number in 0..<count {
            operations.append(
                .write(key: CacheKey(verbatim: "big \(number)"), data: Data(#"{"id":"b\#(number)","folder":"0"}"#.utf8))
            )
        }
        for number in 0..<20 {
            operations.append(
                .write(
                    key: CacheKey(verbatim: "small \(number)"),
                    data: Data(#"{"id":"s\#(number)","folder":"\#(1 + number % 2)"}"#.utf8)))
        }
        _ = try await ada.notes.apply(StorageBatch(operations))
        await ada.sync.resume()
        try await settle(devices)
        await ada.sync.pause()
        let before = remote.sent.count
        _ = try await ada.folders.apply(StorageBatch((0..<3).map { .remove(key: CacheKey(verbatim: "\($0)")) }))
        #expect(try await ada.sync.pending().count == count + 20 + 3)
        await ada.sync.resume()
        #expect(try await shared(devices).notes == ["n \(Self.note)"])
        for batch in remote.sent.dropFirst(before) {
            #expect(batch.changes.count <= remote.maximumItems)
            for folder in 1...2 where batch.changes.contains(where: { $0.key == CacheKey(verbatim: "\(folder)") }) {
                let small = batch.changes.filter { change in
                    (0..<20).contains { change.key == CacheKey(verbatim: "small \($0)") && 1 + $0 % 2 == folder }
                }
                #expect(small.count == 10)
            }
        }
    }

    @Test(arguments: [true, false])
    func `What a removal takes with it is sent later from a collection that is not open`(
        onServer: Bool
    ) async throws {
        for removal in [StorageReference.Removal.remove, .clear] {
            let devices = try await devices(.file, removal, onServer: onServer)
            // Another program of the same device that opens one of the collections only.
            let file = try SQLiteStorageEngine(openingFile: folder.file("ada.sqlite3"))
            var options = SyncOptions()
            options.startsPaused = true
            let sync = try await StorageSync(
                local: { try file.collection(named: $0) }, remote: remote, options: options)
            let folders = try await sync.collection(named: "folders")
            try await folders.remove(key: CacheKey(verbatim: "f"))
            #expect(try await devices[0].notes.fetchCount() == (removal == .remove ? 0 : 1))
            #expect(Set(try await sync.pending().map(\.collection)) == ["folders", "notes"])
            await sync.resume()
            try await sync.settled()
            #expect(try await server.collection(named: "folders").fetchCount() == 0)
            #expect(try await sync.pending().map(\.collection) == ["notes"])
            await devices[0].sync.resume()
            let (_, notes) = try await shared(devices)
            #expect(notes == (removal == .remove ? [] : ["n \(Self.cleared)"]))
            #expect(try await sync.pending().isEmpty)
            try await server.collection(named: "notes").removeAllData()
            try await settle(devices)
        }
    }

    @Test(arguments: Place.allCases)
    func `Chains, cycles and lists are followed as an engine does, and a store sees what else is gone`(
        _ place: Place
    ) async throws {
        let device = try await device(place, "ada", [])
        try await device.folders.references?.declareReferences([
            StorageReference("parent", to: "folders", onRemoval: .remove),
            StorageReference("favourites", isList: true, to: "notes", onRemoval: .clear),
        ])
        try await device.notes.references?.declareReferences([
            StorageReference("folder", to: "folders", onRemoval: .remove)
        ])
        // A cycle of three folders, of which one has notes.
        for (id, parent) in [("a", "c"), ("b", "a"), ("c", "b")] {
            try await device.put(#"{"id":"\#(id)","parent":"\#(parent)"}"#, id, in: device.folders)
        }
        try await device.put(#"{"id":"x","parent":null,"favourites":["n1","n2","n3"]}"#, "x", in: device.folders)
        for (id, folder) in [("n1", "c"), ("n2", "x"), ("n3", "b")] {
            try await device.put(#"{"id":"\#(id)","folder":"\#(folder)"}"#, id, in: device.notes)
        }
        let origin = StorageOrigin()
        let log = try #require(device.folders.log)
        let cursor = try await log.fetchCursor()
        _ = try await device.folders.apply(StorageBatch([.remove(key: CacheKey(verbatim: "a"))], origin: origin))
        #expect(try await device.texts(device.folders) == [#"x {"id":"x","parent":null,"favourites":["n2"]}"#])
        #expect(try await device.texts(device.notes) == [#"n2 {"id":"n2","folder":"x"}"#])
        let changes = try #require(try await log.fetchChanges(ChangesRequest(since: cursor)).value?.changes)
        let others = changes.filter { $0.origin?.shared != origin.shared }.map(\.key)
        #expect(Set(others) == [CacheKey(verbatim: "b"), CacheKey(verbatim: "c"), CacheKey(verbatim: "x")])
        #expect(
            Set(changes.map(\.key)) == [
                CacheKey(verbatim: "a"), CacheKey(verbatim: "b"), CacheKey(verbatim: "c"), CacheKey(verbatim: "x"),
            ])
        #expect(try await shared([device]).notes == [#"n2 {"id":"n2","folder":"x"}"#])
    }

    private struct Entry: Codable, Identifiable, Equatable {
        let id: String
        var parent: String?
    }

    @Test(arguments: Place.allCases)
    @MainActor func `Stores show all that a removal takes with it when it returns`(_ place: Place) async throws {
        let device = try await device(place, "ada", [StorageReference("parent", to: "folders", onRemoval: .remove)])
        try await device.folders.references?.declareReferences([
            StorageReference("parent", to: "folders", onRemoval: .remove)
        ])
        let folders = try await Store<Entry>(storage: device.folders)
        let notes = try await Store<Entry>(storage: device.notes)
        for round in 0..<20 {
            try await folders.insert([
                Entry(id: "a"), Entry(id: "b", parent: "a"), Entry(id: "c", parent: "b"), Entry(id: "x\(round)"),
            ])
            try await notes.insert([Entry(id: "n", parent: "c"), Entry(id: "m\(round)", parent: "x\(round)")])
            try await folders.remove(id: "a")
            #expect(folders.items == (0...round).map { Entry(id: "x\($0)") })
            #expect(notes.items == (0...round).map { Entry(id: "m\($0)", parent: "x\($0)") })
        }
    }

    @Test func `Devices with references agree after random changes`() async throws {
        for round in 0..<UInt64(TestSizes.referenceSyncs) {
            let seed = Seed.current &+ round
            var random = SeededGenerator(seed: seed)
            let references = [
                StorageReference("folder", to: "folders", onRemoval: Bool.random(using: &random) ? .remove : .clear),
                StorageReference("tags", isList: true, to: "folders", onRemoval: .clear),
            ]
            let server = MemoryStorageEngine()
            if Bool.random(using: &random) { try await server.collection(named: "notes").declareReferences(references) }
            var devices: [Device] = []
            for _ in 0..<3 {
                let memory = MemoryStorageEngine()
                let sync = try await StorageSync(
                    local: { memory.collection(named: $0) }, remote: { server.collection(named: $0) })
                let device = Device(
                    sync: sync, folders: try await sync.collection(named: "folders"),
                    notes: try await sync.collection(named: "notes"))
                try await device.notes.references?.declareReferences(references)
                try await device.folders.references?.declareReferences([
                    StorageReference("parent", to: "folders", onRemoval: .remove)
                ])
                devices.append(device)
            }
            for _ in 0..<60 {
                let device = devices[Int.random(in: 0..<3, using: &random)]
                let (folder, note) = (Int.random(in: 0..<4, using: &random), Int.random(in: 0..<6, using: &random))
                let other = Int.random(in: 0..<4, using: &random)
                switch Int.random(in: 0..<9, using: &random) {
                case 0: try await device.folders.remove(key: CacheKey(verbatim: "\(folder)"))
                case 1: try await device.folders.removeAllData()
                case 2...3:
                    try await device.put(#"{"id":"\#(folder)","parent":"\#(other)"}"#, "\(folder)", in: device.folders)
                case 4...5:
                    try await device.put(
                        #"{"id":"n\#(note)","folder":"\#(folder)","tags":["\#(other)","x"]}"#, "\(note)",
                        in: device.notes)
                case 6: try await device.notes.remove(key: CacheKey(verbatim: "\(note)"))
                case 7: await device.sync.pause()
                default: await device.sync.resume()
                }
            }
            for device in devices { await device.sync.resume() }
            for _ in 0..<3 { try await settle(devices) }
            for name in ["folders", "notes"] {
                let expected = try await devices[0].texts(server.collection(named: name))
                for device in devices {
                    let items = try await device.texts(name == "notes" ? device.notes : device.folders)
                    #expect(items == expected, "EMPORIUM_SEED=\(seed), \(name)")
                }
            }
        }
    }
}
