import Bodega
import Foundation

// Requests of the form in which this package uses an engine, see `StorageBackend`.
extension StorageEngineConformance.Check {

    static let requests = [requestsReturnTheirFields, healthyItemsAreNotLeftOut, countsEndAtTheirLimits]

    /// Reads of some items and of all of them return the requested fields: only the keys, or also the data, the dates,
    /// or both.
    public static let requestsReturnTheirFields = Self("requests return their fields") { examination, engine in
        let names = ["b", "a", "c"]
        for name in names {
            try await engine.write(bytes(name), key: examination.key(name))
            examination.clock.advance(by: 1)
        }
        for fields: StorageFields in [[], .data, .dates, [.data, .dates]] {
            try await examination.expectAnswers(of: engine.backend, names, fields)
        }
    }

    /// Reads that may leave out items that can't be read return all healthy items, and report nothing. So do reads of
    /// originals.
    public static let healthyItemsAreNotLeftOut = Self("healthy items are not left out") { examination, engine in
        let names = ["b", "a", "c"]
        for name in names { try await engine.write(bytes(name), key: examination.key(name)) }
        for omitsUnreadable in [true, false] {
            for needsOriginal in [true, false] {
                let options = ReadOptions(omitsUnreadable: omitsUnreadable, needsOriginal: needsOriginal)
                for fields: StorageFields in [.data, []] {
                    try await examination.expectAnswers(of: engine.backend, names, fields, options)
                }
            }
        }
    }

    /// Counting ends at a limit, which is that of all scans of a request.
    public static let countsEndAtTheirLimits = Self("counts end at their limits") { examination, engine in
        let engine = engine.backend
        try await engine.write(examination.items("a", "b", "c"))
        for limit in [1, 2, 3, 4, .max] {
            let count = try await engine.count(.all(after: nil), upTo: limit)
            examination.expectEqual(count, min(limit, 3), "count(_:upTo: \(limit))")
        }
        let scans = [StorageScan](repeating: .all(after: nil), count: 2)
        for limit in [2, 4, 6, .max] {
            let (answer, items) = try await examination.scan(engine, ScanRequest(counting: scans, upTo: limit))
            examination.expectEqual(answer.value.count, min(limit, 6), "the count of two scans up to \(limit)")
            examination.expectEqual(items[0].count, 3, "the items read after counting up to \(limit)")
        }
    }
}

extension Examination {

    /// Compares the items that two requests with the same fields return: one for some keys, and one for all items.
    ///
    /// - Parameter names: The names of all items, in insertion order. An item's data is its name.
    fileprivate func expectAnswers(
        of engine: any StorageBackend, _ names: [String], _ fields: StorageFields,
        _ options: ReadOptions = ReadOptions()
    ) async throws {
        let names = (all: names, some: names.reversed() + [names[0]])
        let keys = (names.some + ["absent"]).map(key)
        let fetched = try await engine.fetch(FetchRequest(keys, fields, options: options))
        let (scanned, items) = try await scan(engine, ScanRequest(fields: fields, options: options))
        let moment = "with the fields \(fields.rawValue) and \(options)"
        try await expectItems(fetched.value, names.some, fields, of: engine, "fetch(_:) \(moment)")
        try await expectItems(items[0], names.all, fields, of: engine, "scan(_:_:) \(moment)")
        let unreadable = fetched.report.unreadable + scanned.report.unreadable
        expect(unreadable.isEmpty, "the reports \(moment) have no unreadable items")
        if fields.contains(.data) {
            let size = items[0].reduce(0) { $0 + $1.data.count }
            expectEqual(scanned.value.byteCount, size, "the number of bytes of scan(_:_:) \(moment)")
        }
    }

    private func expectItems(
        _ items: [StorageItem], _ names: [String], _ fields: StorageFields, of engine: any StorageBackend,
        _ subject: String
    ) async throws {
        expectKeys(items.map(\.key), names.map(key), subject)
        if fields.contains(.data) {
            expectItems(items.map { ($0.key, $0.data) }, names.map { (key($0), bytes($0)) }, subject)
        }
        guard fields.contains(.dates) else { return }
        for item in items {
            let dates = try await engine.fetchDates(key: item.key)
            let key = described(item.key)
            expect(item.dates != nil, "\(subject) returns the dates of \(key)")
            expectDate(item.dates?.createdAt, dates?.createdAt, "createdAt of \(key), \(subject)")
            expectDate(item.dates?.updatedAt, dates?.updatedAt, "updatedAt of \(key), \(subject)")
        }
    }
}
