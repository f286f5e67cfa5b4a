import Bodega
import Foundation

extension Examination {

    /// Reads the entries of some scans with one call.
    ///
    /// - Parameters:
    ///   - engine: The engine.
    ///   - scans: The scans.
    ///   - limits: The number of entries after which the receiver ends each scan, `nil` for all.
    ///   - didReceive: Called for each entry.
    /// - Returns: The entries of each scan.
    func entries(
        of engine: any QueryableStorageEngine, _ scans: [StorageScan], limits: [Int?] = [],
        didReceive: @escaping @Sendable () -> Void = {}
    ) async throws -> [[StorageEntry]] {
        try await received(scans, limits: limits, didReceive: didReceive) { try await engine.scan(scans, $0) }
    }

    /// Counts the items of some scans, and reads the entries of others, with one call.
    func count(
        of engine: any QueryableStorageEngine, _ scans: [StorageScan], reading others: [StorageScan]
    ) async throws -> (count: Int, entries: [[StorageEntry]]) {
        let count = Locked(0)
        let entries = try await received(others) { begin in
            let number = try await engine.count(scans, reading: others, begin)
            count.withLock { $0 = number }
        }
        return (count.withLock { $0 }, entries)
    }

    /// Performs a call that passes on the entries of scans.
    private func received(
        _ scans: [StorageScan], limits: [Int?] = [], didReceive: @escaping @Sendable () -> Void = {},
        _ call: (@escaping @Sendable () throws -> StorageReceiver) async throws -> Void
    ) async throws -> [[StorageEntry]] {
        let none = [[StorageEntry]](repeating: [], count: scans.count)
        let found = Locked((last: 0, entries: none))
        try await call {
            found.withLock { $0 = (0, none) }
            return { [self] number, entry in
                didReceive()
                return try found.withLock { found in
                    guard scans.indices.contains(number), number >= found.last else {
                        record("the number of a scan", expected: "\(found.last) or a later one", actual: "\(number)")
                        throw StorageError(.invalidArgument, "The scans have other numbers.")
                    }
                    found.last = number
                    found.entries[number].append(entry)
                    guard limits.indices.contains(number), let limit = limits[number] else { return true }
                    return found.entries[number].count < limit
                }
            }
        }
        return found.withLock { $0.entries }
    }

    /// Reads the entries of one scan.
    func entries(
        of engine: any QueryableStorageEngine, _ scan: StorageScan, limit: Int? = nil
    ) async throws -> [StorageEntry] {
        try await entries(of: engine, [scan], limits: [limit]).flatMap { $0 }
    }

    /// The name for which a check uses a key, or a description of the key.
    func names(of entries: [StorageEntry]) -> [String] {
        let names = keyOfName.withLock { $0.byName }.map { (comparableBytes(of: $0.value), $0.key) }
        let nameOfKey = Dictionary(names) { first, _ in first }
        return entries.map { nameOfKey[comparableBytes(of: $0.key)] ?? described($0.key) }
    }

    /// The names and items of entries as text.
    func lines(of entries: [StorageEntry]) -> [String] {
        zip(names(of: entries), entries).map { "\($0): \(String(decoding: $1.data, as: UTF8.self))" }
    }

    /// Compares the order, keys and items of entries, in exactly this order. If an item is `nil`, it is its name.
    func expectEntries(
        _ actual: [StorageEntry], _ expected: KeyValuePairs<String, String?>, _ subject: String
    ) {
        expectEqual(lines(of: actual), expected.map { "\($0): \($1 ?? $0)" }, subject)
    }

    /// Creates an index.
    ///
    /// - Returns: Whether the engine has the index. An engine that doesn't promise indexes can refuse to create them.
    func creates(_ index: StorageIndex, on engine: any QueryableStorageEngine) async throws -> Bool {
        do {
            try await engine.createIndex(index)
            return true
        } catch let error as StorageError
            where !promises(.indexed) && [.invalidArgument, .permissionDenied].contains(error.code)
        {
            let indexes = try await engine.fetchIndexes()
            expect(!indexes.contains(index), "fetchIndexes() has no index that was refused")
            return false
        }
    }
}
