import Bodega
import BodegaSync
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// A remote file that is replaced by an earlier copy of it, or by another one.
@Suite struct RestoredRemoteTests {
    private let workspace: StorageEngineConformance.Workspace

    init() throws { workspace = try StorageEngineConformance.Workspace() }

    private func url(_ name: String) -> URL { workspace.directory.url.appendingPathComponent(name) }

    private func sync(_ local: MemoryStorageEngine, with remote: String) async throws -> StorageSync {
        let url = url(remote)
        let file = try SQLiteStorageEngine(openingFile: url)
        return try await StorageSync(
            local: { local.collection(named: $0) }, remote: { try file.collection(named: $0) })
    }

    private func items(_ engine: some StorageEngine) async throws -> [String: String] {
        var items: [String: String] = [:]
        for (key, data) in try await engine.fetchAll() { items[key.rawValue] = String(decoding: data, as: UTF8.self) }
        return items
    }

    private static let ada = #"@.owner == "ada""#

    @Test(arguments: [nil, ada], [nil, ada, "@.v == 2"])
    func `A device whose rights were changed has what it may see now, and gives nothing back`(
        _ before: String?, _ after: String?
    ) async throws {
        for isFile in [true, false] {
            let remote: any StorageEngine =
                isFile
                ? try SQLiteStorageEngine(openingFile: url("\(UUID()).db")).collection(named: "n")
                : MemoryStorageEngine().collection(named: "n")
            let device = MemoryStorageEngine()
            let key = { (text: String) in CacheKey(verbatim: text) }
            for name in ["gone", "changed", "same"] {
                try await remote.write(Data(#"{"owner":"ada","v":1}"#.utf8), key: key(name))
            }
            func sync(_ filter: String?) async throws -> (StorageSync, any StorageEngine) {
                let scope = try filter.map { try StorageScope(matching: $0) }
                let engine = scope.map { remote.scoped(to: $0) as any StorageEngine } ?? remote
                let sync = try await StorageSync(
                    local: { device.collection(named: $0) }, remote: EngineSyncRemote { _ in engine })
                let notes = try await sync.collection(named: "n")
                try await sync.settled()
                return (sync, notes)
            }
            do {
                let (sync, notes) = try await sync(before)
                #expect(try await items(notes).count == 3)
                await sync.pause()
            }
            try await remote.remove(key: key("gone"))
            try await remote.write(Data(#"{"owner":"ada","v":2}"#.utf8), key: key("changed"))
            let expected = [
                "changed": #"{"owner":"ada","v":2}"#, "same": #"{"owner":"ada","v":1}"#,
            ]
            let (sync, notes) = try await sync(after)
            let isWhole = after != "@.v == 2"
            #expect(try await items(notes) == expected.filter { isWhole || $0.key == "changed" })
            #expect(try await items(remote) == expected)
            await sync.pause()
        }
    }

    @Test(arguments: [5, 0], [0, 3, 40])
    func `Devices keep what a restored database lacks, and give it back`(_ saved: Int, _ later: Int) async throws {
        let devices = [MemoryStorageEngine(), MemoryStorageEngine()]
        let key = { (text: String) in CacheKey(verbatim: text) }
        var expected: [String: String] = [:]
        do {
            let syncs = [try await sync(devices[0], with: "a.db"), try await sync(devices[1], with: "a.db")]
            let notes = [try await syncs[0].collection(named: "n"), try await syncs[1].collection(named: "n")]
            try await syncs[1].settled()
            for number in 0..<10 {
                if number == saved {
                    try await syncs[0].settled()
                    let file = try SQLiteStorageEngine(openingFile: url("a.db"))
                    try await file.backup(to: url("b.db"))
                }
                try await notes[0].write(Data(#"{"n":\#(number)}"#.utf8), key: key("\(number)"))
                expected["\(number)"] = #"{"n":\#(number)}"#
            }
            // Of the copy's time, and changed since.
            try await notes[0].write(Data(#"{"n":100}"#.utf8), key: key("0"))
            expected["0"] = #"{"n":100}"#
            for sync in syncs { try await sync.settled() }
            #expect(try await items(notes[1]) == expected)
            // Not sent yet.
            await syncs[1].pause()
            try await notes[1].write(Data(#"{"n":"new"}"#.utf8), key: key("new"))
            expected["new"] = #"{"n":"new"}"#
        }
        // The restored database may go on, also beyond the place at which the devices were.
        do {
            let file = try SQLiteStorageEngine(openingFile: url("b.db")).collection(named: "n")
            for number in 0..<later {
                try await file.write(Data(#"{"later":\#(number)}"#.utf8), key: key("later \(number)"))
                expected["later \(number)"] = #"{"later":\#(number)}"#
            }
        }
        for (round, device) in [0, 1, 0].enumerated() {
            let sync = try await sync(devices[device], with: "b.db")
            let notes = try await sync.collection(named: "n")
            try await sync.settled()
            // What the second device had not sent reaches the first one afterwards.
            if round > 0 { #expect(try await items(notes) == expected, "device \(device)") }
        }
        let file = try SQLiteStorageEngine(openingFile: url("b.db")).collection(named: "n")
        #expect(try await items(file) == expected)
    }

    enum Replacement: CaseIterable { case restored, other, empty }

    /// The remote database had its items before its log began, so the place of the device is the first row.
    @Test(arguments: Replacement.allCases)
    func `A device that has only received keeps what a replaced database lacks`(_ replacement: Replacement) async throws
    {
        let key = { (text: String) in CacheKey(verbatim: text) }
        func open(_ name: String) throws -> SQLiteStorageEngine {
            try SQLiteStorageEngine(openingFile: url(name)).collection(named: "n")
        }
        let first = try open("a.db")
        try await first.write([(key("1"), Data("1".utf8)), (key("2"), Data("2".utf8))])
        switch replacement {
        case .restored: try await first.backup(to: url("b.db"))
        case .other: try await open("b.db").write(Data("9".utf8), key: key("9"))
        case .empty: _ = try open("b.db")
        }
        try await first.write(Data("3".utf8), key: key("3"))
        let device = MemoryStorageEngine()
        do {
            let sync = try await sync(device, with: "a.db")
            let notes = try await sync.collection(named: "n")
            try await sync.settled()
            #expect(try await items(notes).count == 3)
            await sync.pause()
        }
        var expected = ["1": "1", "2": "2", "3": "3"]
        if replacement == .other { expected["9"] = "9" }
        for _ in 0..<2 {
            let sync = try await sync(device, with: "b.db")
            let notes = try await sync.collection(named: "n")
            try await sync.settled()
            #expect(try await items(notes) == expected)
            #expect(try await items(open("b.db")) == expected)
            await sync.pause()
        }
    }

    @Test func `After an absence that is longer than the log, removed items are removed`() async throws {
        let device = MemoryStorageEngine()
        let server = MemoryStorageEngine()
        let remote = server.collection(named: "n")
        let open = {
            try await StorageSync(local: { device.collection(named: $0) }, remote: { server.collection(named: $0) })
        }
        do {
            let sync = try await open()
            let notes = try await sync.collection(named: "n")
            try await notes.write((0..<3).map { (CacheKey(verbatim: "\($0)"), Data("\($0)".utf8)) })
            try await sync.settled()
        }
        try await remote.remove(key: CacheKey(verbatim: "1"))
        let filler = (0..<20_000).map { (CacheKey(verbatim: "filler \($0)"), Data()) }
        for _ in 0..<6 { try await remote.write(filler) }
        try await remote.remove(keys: filler.map(\.0))
        let sync = try await open()
        let notes = try await sync.collection(named: "n")
        try await sync.settled()
        let shown = try await items(notes)
        #expect(shown == ["0": "0", "2": "2"])
        #expect(try await items(remote) == ["0": "0", "2": "2"])
    }
}
