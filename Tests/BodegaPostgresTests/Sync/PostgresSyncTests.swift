#if Postgres
import Bodega
import BodegaPostgres
import BodegaSync
import Foundation
import TestSupport
import Testing

/// A PostgreSQL database as the remote one of several devices.
@Suite(.serialized)
struct PostgresSyncTests {

    /// Each device changes a property of its own, so the last value of each is known.
    private struct Counts: Codable, Sendable, Equatable {
        var counts: [String: Int] = [:]
    }

    private struct Pair: Codable, Sendable, Equatable {
        var number: Int
    }

    private struct Device {
        let name: String
        let sync: StorageSync
        let left: SyncedStorageEngine
        let right: SyncedStorageEngine

        init(_ name: String, _ file: URL, _ database: PostgresDatabase) async throws {
            self.name = name
            let local = try SQLiteStorageEngine(openingFile: file, durability: .relaxed)
            sync = try await StorageSync(
                local: { try local.collection(named: $0) }, remote: { try await database.collection(named: $0) })
            (left, right) = (
                try await sync.collection(named: "left"), try await sync.collection(named: "right")
            )
        }

        /// Counts in a shared item, adds an item of its own to each collection, and removes each fourth pair.
        func work(_ count: Int) async throws {
            let shared = ObjectStorage<Counts>(storage: left)
            let pairs = [left, right].map { ObjectStorage<Pair>(storage: $0) }
            for number in 1...count {
                try await shared.update(forKey: CacheKey(verbatim: "shared")) { [name] in $0.counts[name] = number }
                let key = CacheKey(verbatim: "\(name) \(number)")
                try await left.transaction { transaction in
                    for storage in pairs { try transaction.store(Pair(number: number), forKey: key, in: storage) }
                }
                if number % 4 == 0 {
                    try await left.transaction { transaction in
                        for storage in pairs { try transaction.removeObject(forKey: key, in: storage) }
                    }
                }
            }
        }
    }

    @Test("Devices agree through PostgreSQL, also while its processes are ended", arguments: [false, true])
    func devices(isAttacked: Bool) async throws {
        let schema = try await Schemas.shared.schema()
        let (application, folder) = ("sync_\(schema.name)", TemporaryFolder())
        let url = schema.url + "&application_name=\(application)"
        func database() async throws -> PostgresDatabase {
            try await PostgresDatabase(connecting: url, options: .patient())
        }
        let names = ["a", "b", "c"]
        let remote = try await database()
        try await ObjectStorage<Counts>(storage: try await remote.collection(named: "left")).store(
            Counts(counts: Dictionary(uniqueKeysWithValues: names.map { ($0, 0) })),
            forKey: CacheKey(verbatim: "shared"))
        var devices: [Device] = []
        for name in names {
            let device = try await Device(name, folder.file(name), try await database())
            try await device.sync.settled()
            devices.append(device)
        }
        let count = TestSizes.transfers
        let isOver = Locked(false)
        let attack = Task.detached {
            try await schema.endProcesses(of: application, upTo: isAttacked ? 20 : 0) { isOver.withLock { $0 } }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in devices {
                group.addTask {
                    try await device.work(count)
                    try await device.sync.settled()
                }
            }
            try await group.waitForAll()
        }
        isOver.withLock { $0 = true }
        let ended = try await attack.value
        #expect((ended > 0) == isAttacked)
        // Each has sent all, and gets what the others have sent last.
        for device in devices {
            await device.sync.syncNow()
            try await device.sync.settled()
        }

        let numbers = (1...count).filter { $0 % 4 != 0 }
        let pairs = Dictionary(
            uniqueKeysWithValues: devices.flatMap { device in numbers.map { ("\(device.name) \($0)", $0) } })
        let counts = Dictionary(uniqueKeysWithValues: devices.map { ($0.name, count) })
        for name in ["left", "right"] {
            let stored = try await contents(of: try await remote.collection(named: name))
            for (key, number) in pairs { #expect(stored[key] == .object(number), "\(key) in \(name)") }
            let others = stored.keys.filter { pairs[$0] == nil }
            #expect(others == (name == "left" ? ["shared"] : []))
            if name == "left" { #expect(stored["shared"] == .counts(counts)) }
            for device in devices {
                let engine = name == "left" ? device.left : device.right
                #expect(try await contents(of: engine) == stored, "device \(device.name), \(name)")
            }
        }
        for device in devices {
            #expect(try await device.sync.pending().isEmpty)
            #expect(try await device.sync.conflicts().isEmpty)
        }
    }

    private enum Content: Equatable {
        case object(Int)
        case counts([String: Int])
    }

    /// The items, decoded by Foundation.
    private func contents(of engine: any StorageEngine) async throws -> [String: Content] {
        var contents: [String: Content] = [:]
        for (key, data) in try await engine.fetchAll() {
            let decoder = JSONDecoder()
            contents[key.rawValue] =
                key.rawValue == "shared"
                ? .counts(try decoder.decode(Counts.self, from: data).counts)
                : .object(try decoder.decode(Pair.self, from: data).number)
        }
        return contents
    }
}
#endif
