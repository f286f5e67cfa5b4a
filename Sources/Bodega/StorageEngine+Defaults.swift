public import Foundation

// The defaults of an engine that implements only the non-throwing reads, as engines written for the first Bodega do.
extension StorageEngine {

    public func read(keys: [CacheKey]) async -> [Data] {
        await readDataAndKeys(keys: keys).map(\.data)
    }

    public func readDataAndKeys(keys: [CacheKey]) async -> [(key: CacheKey, data: Data)] {
        var found: [(key: CacheKey, data: Data)] = []
        for key in keys {
            if let data = await read(key: key) { found.append((key, data)) }
        }
        return found
    }

    public func readAllData() async -> [Data] {
        await readAllDataAndKeys().map(\.data)
    }

    public func readAllDataAndKeys() async -> [(key: CacheKey, data: Data)] {
        await readDataAndKeys(keys: allKeys())
    }

    public func remove(keys: [CacheKey]) async throws {
        for key in keys { try await remove(key: key) }
    }

    public func keysExist(_ keys: [CacheKey]) async -> [CacheKey] {
        var found: [CacheKey] = []
        for key in keys where await keyExists(key) { found.append(key) }
        return found
    }

    public func keyCount() async -> Int {
        await allKeys().count
    }
}

// The throwing forms of such an engine, whose reads cannot fail.
//
// In its own asynchronous methods, a `ThrowingStorageEngine` that implements a member synchronously, as an actor can,
// calls these instead: among the two, the compiler prefers the asynchronous one. So they call the engine's own.
extension StorageEngine {

    public func fetch(key: CacheKey) async throws -> Data? {
        if let engine = self as? any ThrowingStorageEngine { return try await engine.fetch(key: key) }
        return await read(key: key)
    }

    public func fetch(keys: [CacheKey]) async throws -> [(key: CacheKey, data: Data)] {
        await readDataAndKeys(keys: keys)
    }

    public func fetchAll() async throws -> [(key: CacheKey, data: Data)] {
        if let engine = self as? any ThrowingStorageEngine { return try await engine.fetchAll() }
        return await readAllDataAndKeys()
    }

    public func fetchAllData() async throws -> [Data] {
        await readAllData()
    }

    public func fetchKeys() async throws -> [CacheKey] {
        if let engine = self as? any ThrowingStorageEngine { return try await engine.fetchKeys() }
        return await allKeys()
    }

    public func fetchKeys(among candidates: [CacheKey]) async throws -> [CacheKey] {
        await keysExist(candidates)
    }

    public func fetchCount() async throws -> Int {
        await keyCount()
    }

    public func fetchDates(key: CacheKey) async throws -> StorageDates? {
        if let engine = self as? any ThrowingStorageEngine { return try await engine.fetchDates(key: key) }
        guard let createdAt = await createdAt(key: key) else { return nil }
        return StorageDates(createdAt: createdAt, updatedAt: await updatedAt(key: key) ?? createdAt)
    }

    public func fetchStream(key: CacheKey) async throws -> StorageByteStream? {
        try await fetch(key: key).map { StorageByteStream($0) }
    }

    public func write(stream: StorageByteStream, key: CacheKey) async throws {
        try await write(stream.data(), key: key)
    }

    public func apply(_ operations: [StorageOperation]) async throws {
        if let engine = self as? any ThrowingStorageEngine { return try await engine.apply(operations) }
        for run in StorageOperation.runs(of: operations) {
            switch run {
            case .writes(let items): try await write(items)
            case .removals(let keys): try await remove(keys: keys)
            case .removeAll: try await removeAllData()
            }
        }
    }
}

extension StorageOperation {

    /// Adjacent operations of one kind, for engines that have a call for each kind.
    package enum Run {
        case writes([(key: CacheKey, data: Data)])
        case removals([CacheKey])
        case removeAll
    }

    /// Groups adjacent operations of one kind, so that each group is one call.
    package static func runs(of operations: [StorageOperation]) -> [Run] {
        var runs: [Run] = []
        var writes: [(key: CacheKey, data: Data)] = []
        var removals: [CacheKey] = []
        func endRun() {
            if !writes.isEmpty { runs.append(.writes(writes)) }
            if !removals.isEmpty { runs.append(.removals(removals)) }
            writes.removeAll()
            removals.removeAll()
        }
        for operation in operations {
            switch operation {
            case .write(let key, let data):
                if !removals.isEmpty { endRun() }
                writes.append((key, data))
            case .remove(let key):
                if !writes.isEmpty { endRun() }
                removals.append(key)
            case .removeAll:
                endRun()
                runs.append(.removeAll)
            }
        }
        endRun()
        return runs
    }
}
