import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Items that are read with their changes by an engine that can't do both at one moment.
@Suite struct ChangedItemsTests {

    private let engine = BusyEngine()

    private func text(_ items: [StorageItem]?) -> [String]? {
        items?.map { "\($0.key.rawValue)=\(String(decoding: $0.data, as: UTF8.self))" }.sorted()
    }

    @Test("They are read until no other writer changes them in between", arguments: [0, 1, 15])
    func again(count: Int) async throws {
        let cursor = try await engine.fetchCursor()
        try await engine.memory.write(Data("0".utf8), key: CacheKey("a"))
        engine.interruptions.withLock { $0 = count }
        let delta = try #require(await engine.fetchChangedItems(since: cursor, excluding: nil))
        #expect(text(delta.items) == ["a=\(count)"])
        #expect(delta.changes.count == count + 1)
        #expect(try await engine.fetchChanges(since: delta.cursor, excluding: nil)?.changes == [])
    }

    @Test("If a writer never stops changing them, the result is nil")
    func forEver() async throws {
        let cursor = try await engine.fetchCursor()
        try await engine.memory.write(Data("0".utf8), key: CacheKey("a"))
        engine.interruptions.withLock { $0 = .max }
        #expect(try await engine.fetchChangedItems(since: cursor, excluding: nil) == nil)
    }

    @Test("Own changes between parts with those of others are told")
    func parts() async throws {
        let (mine, cursor) = (StorageOrigin(), try await engine.fetchCursor())
        for number in 0..<4 {
            try await StorageOrigin.$current.withValue(mine) { try await engine.apply([write("own \(number)")]) }
            if number == 1 { try await engine.apply([write("other")]) }
        }
        let delta = try #require(await engine.fetchChangedItems(since: cursor, excluding: mine))
        #expect(delta.changes.map(\.key.rawValue) == ["own 0", "own 1", "other", "own 2", "own 3"])
        #expect(text(delta.items) == ["other="])
        for number in 4..<9 {
            try await StorageOrigin.$current.withValue(mine) { try await engine.apply([write("own \(number)")]) }
        }
        let own = try #require(await engine.fetchChangedItems(since: delta.cursor, excluding: mine))
        #expect(own.changes.isEmpty && own.items.isEmpty)
        #expect(try await engine.fetchChanges(since: own.cursor, excluding: nil)?.changes == [])
    }

    @Test("They fit their changes while tasks write")
    func writers() async throws {
        let configuration = StorageEngineConformance.Configuration("in parts") { _ in BusyEngine() }
        try await StorageEngineConformance.Case(check: .changedItemsFitTheirChanges, configuration: configuration).run()
    }

    private func write(_ name: String) -> StorageOperation { .write(key: CacheKey(name), data: Data()) }
}

/// Memory that tells its history in parts of two, and in which others change an item before it is read.
private struct BusyEngine: ForwardingStorageEngine {
    let memory = MemoryStorageEngine()
    /// How often others change it.
    let interruptions = Locked(0)
    private let version = Locked(0)

    var base: any StorageBackend { memory }
    var log: (any StorageLog)? { Log(engine: self) }

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        let isInterrupted = interruptions.withLock { count in
            guard case .fetch = call else { return false }
            defer { count = max(0, count - 1) }
            return count > 0
        }
        if isInterrupted {
            let version = version.withLock { version in
                version += 1
                return version
            }
            try await memory.write(Data("\(version)".utf8), key: CacheKey("a"))
        }
        return try await body()
    }

    private struct Log: StorageLog {
        let engine: BusyEngine

        func fetchCursor() async throws -> StorageCursor { try await engine.memory.fetchCursor() }

        func fetchChanges(_ request: ChangesRequest) async throws -> StorageAnswer<StorageDelta?> {
            if request.needsItems { return try await fetchChangesWithItems(request, of: engine) }
            let start = Place(request.cursor)
            guard let delta = try await engine.memory.fetchChanges(since: start.cursor, excluding: nil) else {
                return StorageAnswer(nil)
            }
            let part = Array(delta.changes.dropFirst(start.offset).prefix(2))
            let isNews = request.excluded == nil || part.contains { $0.origin != request.excluded }
            let offset = start.offset + part.count
            return StorageAnswer(
                StorageDelta(
                    changes: isNews ? part : [], cursor: Place(cursor: start.cursor, offset: offset).storageCursor,
                    isComplete: offset == delta.changes.count))
        }

        func changeSignals(excluding origin: StorageOrigin?) -> AsyncStream<Void> {
            engine.memory.changeSignals(excluding: origin)
        }
    }

    /// A place so many changes behind one of the memory's.
    private struct Place {
        var cursor: StorageCursor
        var offset = 0

        init(cursor: StorageCursor, offset: Int) { (self.cursor, self.offset) = (cursor, offset) }

        init(_ cursor: StorageCursor) {
            let parts = cursor.rawValue.split(separator: "+")
            self.cursor = StorageCursor(rawValue: String(parts[0]))
            if parts.count == 2, let offset = Int(parts[1]) { self.offset = offset }
        }

        var storageCursor: StorageCursor { StorageCursor(rawValue: "\(cursor.rawValue)+\(offset)") }
    }
}
