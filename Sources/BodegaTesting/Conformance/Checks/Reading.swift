import Bodega
import Foundation

extension StorageEngineConformance.Check {

    static let reading = [
        aFreshEngineIsEmpty, absentItemsAreAbsent, readingFormsAgree, emptyListsDoNothing, failureIsNotAbsence,
    ]

    /// A fresh engine has no items by any method that reads them.
    public static let aFreshEngineIsEmpty = Self("a fresh engine is empty") { examination, engine in
        try await examination.expectState(of: engine, [], "of a fresh engine")
    }

    /// Reading absent items is no failure: the result is `nil` or omits them, and they have no dates.
    public static let absentItemsAreAbsent = Self("absent items are absent, not failures") { examination, engine in
        try await engine.write(examination.items("there"))
        let absent = [examination.key("absent"), CacheKey(verbatim: "absent"), CacheKey("")]
            .filter { $0 != examination.key("there") }
        for key in absent { try await examination.expectItem(of: engine, key, nil, "of an absent item") }
        try await examination.expectItems(of: engine, keys: absent, [], "of absent items")
    }

    /// The lenient and the throwing methods return the same results, whether they take one key, several or none.
    public static let readingFormsAgree = Self("all forms of reading agree") { examination, engine in
        let expected = examination.items("one", "two", "three") + [(examination.key("empty"), Data())]
        for (key, data) in expected { try await engine.write(data, key: key) }
        try await examination.expectState(of: engine, expected, "after single writes")
        try await engine.write(bytes("changed"), key: examination.key("two"))
        try await engine.remove(key: examination.key("one"))
        let changed = [(examination.key("two"), bytes("changed")), expected[2], expected[3]]
        try await examination.expectState(of: engine, changed, "after changes")
        try await examination.expectItem(of: engine, examination.key("one"), nil, "after its removal")
    }

    /// All calls accept empty lists, which change nothing.
    public static let emptyListsDoNothing = Self("empty lists do nothing") { examination, engine in
        for expected in [[], examination.items("a", "b")] {
            try await engine.write(expected)
            try await engine.write([])
            try await engine.remove(keys: [])
            try await engine.apply([])
            try await examination.expectItems(of: engine, keys: [], [], "of no keys")
            try await examination.expectState(of: engine, expected, "after calls with empty lists")
        }
    }

    /// When the items can't be read, the throwing methods throw, and the lenient ones return nothing.
    public static let failureIsNotAbsence = Self("a failure to read is not absence", needs: .brokenStorage) {
        examination, engine in
        let key = examination.key("item")
        try await engine.write(bytes("data"), key: key)
        try await examination.configuration.breakStorage?(engine, examination.workspace)
        await examination.expectFailure("fetch(key:)") { try await engine.fetch(key: key) }
        await examination.expectFailure("fetch(keys:)") { try await engine.fetch(keys: [key]) }
        await examination.expectFailure("fetchAll()") { try await engine.fetchAll() }
        await examination.expectFailure("fetchAllData()") { try await engine.fetchAllData() }
        // These may not need what is damaged.
        await examination.expectFailure("fetchKeys()", or: [key]) { try await engine.fetchKeys() }
        await examination.expectFailure("fetchKeys(among:)", or: [key]) { try await engine.fetchKeys(among: [key]) }
        await examination.expectFailure("fetchCount()", or: 1) { try await engine.fetchCount() }
        await examination.expectFailure("fetchDates(key:)", or: true) { try await engine.fetchDates(key: key) != nil }
        let backend = engine.backend
        if backend.log != nil {
            await examination.expectFailure("fetchSnapshot()") { try await backend.fetchSnapshot() }
        }
        examination.expectEqual(await engine.read(key: key), nil, "read(key:) of damaged storage")
        examination.expectData(await engine.read(keys: [key]), [], "read(keys:) of damaged storage")
        examination.expectItems(await engine.readAllDataAndKeys(), [], "readAllDataAndKeys() of damaged storage")
        examination.expectData(await engine.readAllData(), [], "readAllData() of damaged storage")
    }
}

extension Examination {
    /// Checks that a read of damaged storage throws, or finds what is there.
    fileprivate func expectFailure<Value: Equatable>(
        _ call: String, or expected: Value, _ work: () async throws -> Value
    ) async {
        do {
            let result = try await work()
            if result == expected { return }
            record("\(call) of damaged storage", expected: "an error", actual: described(result))
        } catch {}
    }

    /// Checks that a read of damaged storage throws.
    fileprivate func expectFailure(_ call: String, _ work: () async throws -> Any?) async {
        do {
            let result = try await work()
            record("\(call) of damaged storage", expected: "an error", actual: described(result as Any))
        } catch {}
    }
}
