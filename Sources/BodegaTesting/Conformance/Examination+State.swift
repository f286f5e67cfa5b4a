import Bodega
import Foundation

extension Examination {

    /// Compares the results of all methods that read an engine's items with the expected items.
    ///
    /// - Parameters:
    ///   - expected: The items in insertion order.
    ///   - moment: A description of the moment for reports, such as "after overwriting".
    func expectState(of engine: any StorageEngine, _ expected: [Item], _ moment: String) async throws {
        let keys = expected.map(\.key)
        expectItems(try await engine.fetchAll(), expected, "fetchAll() \(moment)")
        expectItems(await engine.readAllDataAndKeys(), expected, "readAllDataAndKeys() \(moment)")
        expectData(try await engine.fetchAllData(), expected.map(\.data), "fetchAllData() \(moment)")
        expectData(await engine.readAllData(), expected.map(\.data), "readAllData() \(moment)")
        expectKeys(try await engine.fetchKeys(), keys, "fetchKeys() \(moment)")
        expectKeys(await engine.allKeys(), keys, "allKeys() \(moment)")
        expectEqual(try await engine.fetchCount(), keys.count, "fetchCount() \(moment)")
        expectEqual(await engine.keyCount(), keys.count, "keyCount() \(moment)")
        try await expectItems(of: engine, keys: keys, expected, moment)
        for (key, data) in expected { try await expectItem(of: engine, key, data, moment) }
    }

    /// Compares the results of all methods that take several keys.
    func expectItems(
        of engine: any StorageEngine,
        keys: [CacheKey],
        _ expected: [Item],
        _ moment: String
    ) async throws {
        let data = expected.map(\.data)
        expectItems(try await engine.fetch(keys: keys), expected, "fetch(keys:) \(moment)")
        expectItems(await engine.readDataAndKeys(keys: keys), expected, "readDataAndKeys(keys:) \(moment)")
        expectData(await engine.read(keys: keys), data, "read(keys:) \(moment)")
        expectKeys(try await engine.fetchKeys(among: keys), expected.map(\.key), "fetchKeys(among:) \(moment)")
        expectKeys(await engine.keysExist(keys), expected.map(\.key), "keysExist(_:) \(moment)")
    }

    /// Compares the results of all methods that take one key.
    func expectItem(of engine: any StorageEngine, _ key: CacheKey, _ data: Data?, _ moment: String) async throws {
        let subject = "key: \(described(key))) \(moment)"
        expectEqual(try await engine.fetch(key: key), data, "fetch(\(subject)")
        expectEqual(await engine.read(key: key), data, "read(\(subject)")
        expectEqual(await engine.keyExists(key), data != nil, "keyExists(\(subject)")
        let dates = try await engine.fetchDates(key: key)
        let (createdAt, updatedAt) = (await engine.createdAt(key: key), await engine.updatedAt(key: key))
        expectEqual(dates != nil, data != nil, "whether there are dates, fetchDates(\(subject)")
        expectDate(createdAt, dates?.createdAt, "createdAt(\(subject)")
        expectDate(updatedAt, dates?.updatedAt, "updatedAt(\(subject)")
        if let dates, dates.createdAt.timeIntervalSince(dates.updatedAt) > 0.000_5 {
            record("fetchDates(\(subject)", expected: "createdAt before updatedAt", actual: "\(dates)")
        }
    }
}

/// Bytes for tests: the UTF-8 of a string.
func bytes(_ text: String) -> Data { Data(text.utf8) }
