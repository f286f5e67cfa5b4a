import Bodega
import Foundation

extension Examination {

    /// Performs a request, and collects the entries of its scans.
    ///
    /// - Parameters:
    ///   - limits: The number of entries after which the receiver ends each scan, `nil` for all.
    ///   - didReceive: Called for each entry.
    /// - Returns: The answer, and the entries of each scan.
    func scan(
        _ engine: any StorageBackend, _ request: ScanRequest, limits: [Int?] = [],
        didReceive: @escaping @Sendable () -> Void = {}
    ) async throws -> (answer: StorageAnswer<ScanOutcome>, entries: [[StorageItem]]) {
        let scans = request.scans
        let none = [[StorageItem]](repeating: [], count: scans.count)
        let found = Locked((last: 0, entries: none))
        let answer = try await engine.scan(request) {
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
        return (answer, found.withLock { $0.entries })
    }

    /// Reads the entries of some scans with one call.
    func entries(
        of engine: any StorageBackend, _ scans: [StorageScan], limits: [Int?] = [],
        didReceive: @escaping @Sendable () -> Void = {}
    ) async throws -> [[StorageItem]] {
        try await scan(engine, ScanRequest(scans), limits: limits, didReceive: didReceive).entries
    }

    /// Counts the items of some scans, and reads the entries of others, with one call.
    func count(
        of engine: any StorageBackend, _ scans: [StorageScan], reading others: [StorageScan]
    ) async throws -> (count: Int, entries: [[StorageItem]]) {
        let (answer, entries) = try await scan(engine, ScanRequest(others, counting: scans))
        return (answer.value.count, entries)
    }

    /// Reads the entries of one scan.
    func entries(of engine: any StorageBackend, _ scan: StorageScan, limit: Int? = nil) async throws -> [StorageItem] {
        try await entries(of: engine, [scan], limits: [limit]).flatMap { $0 }
    }

    /// The name for which a check uses a key, or a description of the key.
    func names(of entries: [StorageItem]) -> [String] {
        let names = keyOfName.withLock { $0.byName }.map { (comparableBytes(of: $0.value), $0.key) }
        let nameOfKey = Dictionary(names) { first, _ in first }
        return entries.map { nameOfKey[comparableBytes(of: $0.key)] ?? described($0.key) }
    }

    /// The names and items of entries as text.
    func lines(of entries: [StorageItem]) -> [String] {
        zip(names(of: entries), entries).map { "\($0): \(String(decoding: $1.data, as: UTF8.self))" }
    }

    /// Compares the order, keys and items of entries, in exactly this order. If an item is `nil`, it is its name.
    func expectEntries(_ actual: [StorageItem], _ expected: KeyValuePairs<String, String?>, _ subject: String) {
        expectEqual(lines(of: actual), expected.map { "\($0): \($1 ?? $0)" }, subject)
    }

    /// Creates an index.
    ///
    /// - Returns: The indexes of the engine; `nil` if it has none, or none for searches or no partial ones, or if it
    ///   may not create one.
    func creating(_ index: StorageIndex, on engine: any StorageBackend) async throws -> (any StorageIndexes)? {
        guard let indexes = engine.indexes else { return nil }
        let isOptional = index.searchForm != nil || !index.constants.isEmpty
        do {
            try await indexes.createIndex(index)
            return indexes
        } catch let error as StorageError where error.code == .permissionDenied {
            let existing = try await indexes.fetchIndexes()
            expect(!existing.contains(index), "fetchIndexes() has no index that was refused")
            return nil
        } catch let error as StorageError where isOptional && error.code == .invalidArgument {
            return nil
        }
    }
}
