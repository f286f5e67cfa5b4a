import Bodega
import Foundation

extension StorageEngineConformance.Check {

    static let dates = [
        datesAreTheItemsOwn, createdAtSurvivesOverwriting, batchesKeepCreatedAt, writingAgainResetsCreationDate,
        batchesWriteTheirDates,
    ]

    /// Each item has the dates of its own writes.
    public static let datesAreTheItemsOwn = Self("dates are the item's own", requires: .injectedClock) {
        examination, engine in
        let first = examination.clock.current
        try await engine.write(bytes("first"), key: examination.key("first"))
        examination.clock.advance(by: 61.001)
        let second = examination.clock.current
        try await engine.write(examination.items("second", "third"))
        examination.clock.advance(by: 5)
        await examination.expectDates(of: engine, "first", first, first, "after the first write")
        await examination.expectDates(of: engine, "second", second, second, "after a later write")
        await examination.expectDates(of: engine, "third", second, second, "after a later write")
    }

    /// Overwriting an item keeps its creation date and sets its modification date.
    public static let createdAtSurvivesOverwriting = Self(
        "createdAt survives overwriting, updatedAt follows it",
        requires: .injectedClock
    ) { examination, engine in
        let created = examination.clock.current
        try await engine.write(bytes("1"), key: examination.key("item"))
        for round in 2...4 {
            examination.clock.advance(by: 0.001)
            try await engine.write(bytes("\(round)"), key: examination.key("item"))
            let now = examination.clock.current
            await examination.expectDates(of: engine, "item", created, now, "after write number \(round)")
        }
    }

    /// Overwriting in a batch, in either form, keeps the creation date too.
    public static let batchesKeepCreatedAt = Self("overwriting in a batch keeps createdAt", requires: .injectedClock) {
        examination, engine in
        let created = examination.clock.current
        try await engine.write(examination.items("old"))
        examination.clock.advance(by: 10)
        let written = examination.clock.current
        try await engine.write(examination.items("new", "old", "old"))
        await examination.expectDates(of: engine, "old", created, written, "after write(_:)")
        await examination.expectDates(of: engine, "new", written, written, "after write(_:)")
        examination.clock.advance(by: 10)
        let applied = examination.clock.current
        try await engine.apply([examination.write("old", "1"), examination.write("old", "2")])
        await examination.expectDates(of: engine, "old", created, applied, "after apply(_:)")
        await examination.expectDates(of: engine, "new", written, written, "after apply(_:) to another item")
    }

    /// A removed item has no dates. Written again, it has the dates of the new write.
    public static let writingAgainResetsCreationDate = Self(
        "removing and writing again resets createdAt",
        requires: .injectedClock
    ) { examination, engine in
        try await engine.write(examination.items("item", "other"))
        examination.clock.advance(by: 1)
        try await engine.remove(key: examination.key("item"))
        await examination.expectDates(of: engine, "item", nil, nil, "after remove(key:)")
        let again = examination.clock.current
        try await engine.write(examination.items("item"))
        await examination.expectDates(of: engine, "item", again, again, "after writing again")
        examination.clock.advance(by: 1)
        let batched = examination.clock.current
        try await engine.apply([examination.remove("item"), examination.write("item")])
        await examination.expectDates(of: engine, "item", batched, batched, "after one batch of both")
        examination.clock.advance(by: 1)
        let last = examination.clock.current
        try await engine.apply([.removeAll, examination.write("item")])
        await examination.expectDates(of: engine, "item", last, last, "after a batch with removeAll")
    }

    /// A batch can have the dates of its items. An engine without the trait `dated` ignores them.
    public static let batchesWriteTheirDates = Self(
        "batches write the dates that they have",
        requires: .injectedClock
    ) { examination, engine in
        let (created, start) = (examination.clock.current - 86_400, examination.clock.current)
        try await engine.write(examination.items("old"))
        examination.clock.advance(by: 10)
        let now = examination.clock.current
        let given = StorageDates(createdAt: created, updatedAt: created + 0.001)
        var items = ["old", "new", "without"].map { StorageItem(key: examination.key($0), data: bytes($0)) }
        for index in 0..<2 { items[index].dates = given }
        try await engine.backend.write(items: items)
        let isDated = engine.backend.traits.contains(.dated)
        let moment = "after a batch with dates"
        let (old, new) = isDated ? (created, created) : (start, now)
        await examination.expectDates(of: engine, "old", old, isDated ? given.updatedAt : now, moment)
        await examination.expectDates(of: engine, "new", new, isDated ? given.updatedAt : now, moment)
        await examination.expectDates(of: engine, "without", now, now, moment)
        examination.clock.advance(by: 10)
        let last = examination.clock.current
        try await engine.write(examination.items("new"))
        await examination.expectDates(of: engine, "new", new, last, "after overwriting an item of that batch")
    }
}

extension Examination {
    /// Compares the dates of an item.
    func expectDates(
        of engine: any StorageEngine,
        _ name: String,
        _ created: Date?,
        _ updated: Date?,
        _ moment: String
    ) async {
        expectDate(await engine.createdAt(key: key(name)), created, "createdAt(key: \(name)) \(moment)")
        expectDate(await engine.updatedAt(key: key(name)), updated, "updatedAt(key: \(name)) \(moment)")
    }
}
