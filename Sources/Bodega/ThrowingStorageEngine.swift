public import Foundation

/// An engine whose reads can fail and then throw.
///
/// It implements ``StorageEngine/fetch(key:)``, ``StorageEngine/fetchAll()``, ``StorageEngine/fetchKeys()``,
/// ``StorageEngine/fetchDates(key:)`` and ``StorageEngine/apply(_:)``; everything else is derived from these. The
/// derived `read…` forms log the error that they cannot report, on the logger labeled `emporium.bodega`.
public protocol ThrowingStorageEngine: StorageEngine {}

// These make an engine that lacks one of the five fail to compile. Otherwise it would get the default, which calls the
// lenient form, which calls the throwing form, in an endless recursion.
extension ThrowingStorageEngine {
    @available(*, unavailable, message: "a ThrowingStorageEngine implements this")
    public func fetch(key: CacheKey) async throws -> Data? { fatalError() }

    @available(*, unavailable, message: "a ThrowingStorageEngine implements this")
    public func fetchAll() async throws -> [(key: CacheKey, data: Data)] { fatalError() }

    @available(*, unavailable, message: "a ThrowingStorageEngine implements this")
    public func fetchKeys() async throws -> [CacheKey] { fatalError() }

    @available(*, unavailable, message: "a ThrowingStorageEngine implements this")
    public func fetchDates(key: CacheKey) async throws -> StorageDates? { fatalError() }

    @available(*, unavailable, message: "a ThrowingStorageEngine implements this")
    public func apply(_ operations: [StorageOperation]) async throws { fatalError() }
}

// The throwing forms that follow from the five.
extension ThrowingStorageEngine {

    public func fetch(keys: [CacheKey]) async throws -> [(key: CacheKey, data: Data)] {
        var found: [(key: CacheKey, data: Data)] = []
        for key in keys {
            if let data = try await fetch(key: key) { found.append((key, data)) }
        }
        return found
    }

    public func fetchAllData() async throws -> [Data] {
        try await fetchAll().map(\.data)
    }

    public func fetchKeys(among candidates: [CacheKey]) async throws -> [CacheKey] {
        let existing = Set(try await fetchKeys())
        return candidates.filter(existing.contains)
    }

    public func fetchCount() async throws -> Int {
        try await fetchKeys().count
    }

    public func write(_ data: Data, key: CacheKey) async throws {
        try await apply([.write(key: key, data: data)])
    }

    public func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws {
        try await apply(dataAndKeys.map { .write(key: $0.key, data: $0.data) })
    }

    public func remove(key: CacheKey) async throws {
        try await apply([.remove(key: key)])
    }

    public func remove(keys: [CacheKey]) async throws {
        try await apply(keys.map { .remove(key: $0) })
    }

    public func removeAllData() async throws {
        try await apply([.removeAll])
    }
}

// The lenient forms: the one place where a failed read turns into absence, and is logged.
extension ThrowingStorageEngine {

    public func read(key: CacheKey) async -> Data? {
        await loggingErrors(orElse: nil) { try await fetch(key: key) }
    }

    public func read(keys: [CacheKey]) async -> [Data] {
        await loggingErrors(orElse: []) { try await fetch(keys: keys).map(\.data) }
    }

    public func readDataAndKeys(keys: [CacheKey]) async -> [(key: CacheKey, data: Data)] {
        await loggingErrors(orElse: []) { try await fetch(keys: keys) }
    }

    public func readAllData() async -> [Data] {
        await loggingErrors(orElse: []) { try await fetchAllData() }
    }

    public func readAllDataAndKeys() async -> [(key: CacheKey, data: Data)] {
        await loggingErrors(orElse: []) { try await fetchAll() }
    }

    public func keyExists(_ key: CacheKey) async -> Bool {
        await loggingErrors(orElse: false) { try await !fetchKeys(among: [key]).isEmpty }
    }

    public func keysExist(_ keys: [CacheKey]) async -> [CacheKey] {
        await loggingErrors(orElse: []) { try await fetchKeys(among: keys) }
    }

    public func keyCount() async -> Int {
        await loggingErrors(orElse: 0) { try await fetchCount() }
    }

    public func allKeys() async -> [CacheKey] {
        await loggingErrors(orElse: []) { try await fetchKeys() }
    }

    public func createdAt(key: CacheKey) async -> Date? {
        await loggingErrors(orElse: nil) { try await fetchDates(key: key)?.createdAt }
    }

    public func updatedAt(key: CacheKey) async -> Date? {
        await loggingErrors(orElse: nil) { try await fetchDates(key: key)?.updatedAt }
    }
}
