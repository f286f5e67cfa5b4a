import BodegaTesting
import TestSupport
import Testing

@testable import Bodega

/// Who has written what to a log, without a log.
@Suite(.timeLimit(.minutes(30))) struct SQLiteOriginsTests {

    private let origins = [StorageOrigin(), StorageOrigin(), StorageOrigin()]

    private func position(_ number: Int) -> SQLiteLogPosition {
        SQLiteLogPosition(number: number, nonce: number &* 31)
    }

    @Test("Notes settled in any order, or dropped, say of each row who wrote it")
    func random() throws {
        print("EMPORIUM_SEED=\(Seed.current)")
        var generator = SeededGenerator(seed: Seed.current)
        var notes = SQLiteOrigins()
        var (expected, end): ([Int: StorageOrigin], Int) = ([:], 0)
        var unsettled: [(id: Int, note: SQLiteOrigins.Note)] = []
        for _ in 0..<2_000 {
            notes.check(against: position(end), schema: 1) { _ in true }
            // Others write in between.
            if Bool.random(using: &generator) { end += Int.random(in: 0...2, using: &generator) }
            let last = end + Int.random(in: 1...4, using: &generator)
            let origin = try #require(origins.randomElement(using: &generator))
            let note = SQLiteOrigins.Note(first: end + 1, last: position(last), origin: origin)
            let id = notes.note(note)
            if Int.random(in: 0..<5, using: &generator) == 0 {
                notes.drop(id)
                continue
            }
            end = last
            for number in note.numbers { expected[number] = origin }
            unsettled.append((id, note))
            while unsettled.count > 3 {
                notes.settle(unsettled.remove(at: Int.random(in: 0..<unsettled.count, using: &generator)).id)
            }
            let from = Int.random(in: 1...end, using: &generator)
            let range = from...Int.random(in: from...end, using: &generator)
            let (certain, uncertain) = notes.notes(about: range, schema: 1)
            var found: [Int: StorageOrigin] = [:]
            for note in certain + uncertain {
                for number in note.numbers where range.contains(number) { found[number] = note.origin }
            }
            #expect(found == expected.filter { range.contains($0.key) })
        }
        for (id, _) in unsettled { notes.settle(id) }
        // Neighbours of one origin are one.
        for (note, next) in zip(notes.settled, notes.settled.dropFirst()) {
            #expect(note.last.number < next.first)
            #expect(note.last.number + 1 < next.first || note.origin != next.origin)
        }
    }

    @Test("Notes about what the log does not hold any more are forgotten")
    func bounded() {
        var notes = SQLiteOrigins()
        for number in 1...150_000 {
            let origin = origins[number % 2]
            notes.settle(notes.note(SQLiteOrigins.Note(first: number, last: position(number), origin: origin)))
        }
        #expect(notes.settled.count == SQLiteChangeLog.limit)
    }

    @Test("Notes about another history are forgotten by who writes, and do not count for who reads")
    func anotherHistory() {
        var notes = SQLiteOrigins()
        notes.check(against: position(0), schema: 1) { _ in true }
        notes.settle(notes.note(SQLiteOrigins.Note(first: 1, last: position(5), origin: origins[0])))
        #expect(notes.notes(about: 1...5, schema: 1).certain.count == 1)
        #expect(notes.notes(about: 1...5, schema: 2).certain.isEmpty)
        var confirmed = notes
        confirmed.confirm(schema: 2) { $0 == position(5) }
        #expect(confirmed.notes(about: 1...5, schema: 2).certain.count == 1)
        // The same schema, but rows are missing; another one, and the last row is another.
        for (end, schema) in [(3, 1), (9, 2)] {
            var other = notes
            other.check(against: position(end), schema: schema) { _ in false }
            #expect(other.settled.isEmpty)
        }
    }
}
