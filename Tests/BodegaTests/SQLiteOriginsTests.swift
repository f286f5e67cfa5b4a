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
        var ends: [Int] = []
        var unsettled: [(id: Int, note: SQLiteOrigins.Note)] = []
        for _ in 0..<2_000 {
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
            ends.append(end)
            for number in note.numbers { expected[number] = origin }
            unsettled.append((id, note))
            while unsettled.count > 3 {
                notes.settle(unsettled.remove(at: Int.random(in: 0..<unsettled.count, using: &generator)).id)
            }
            // What somebody sees ends where a transaction does.
            let to = try #require(ends.randomElement(using: &generator))
            let range = Int.random(in: 1...to, using: &generator)...to
            let (certain, proof, uncertain) = notes.notes(about: range)
            #expect(proof.map { $0.number <= range.upperBound } ?? certain.isEmpty)
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
        #expect(notes.proof(excluding: position(0)) == nil)
        let ids = [
            notes.note(SQLiteOrigins.Note(first: 1, last: position(5), origin: origins[0])),
            notes.note(SQLiteOrigins.Note(first: 6, last: position(7), origin: origins[0])),
        ]
        for id in ids { notes.settle(id) }
        #expect(notes.settled.count == 1)
        // The newest row that can be seen proves it, and nothing counts behind that.
        for (end, last) in [(5, 5), (6, 5), (7, 7), (9, 7)] {
            let found = notes.notes(about: 2...end)
            #expect(found.proof == position(last) && found.settled.map(\.numbers) == [1...last])
        }
        #expect(notes.notes(about: 8...9).settled.isEmpty && notes.notes(about: 1...4).settled.isEmpty)
        #expect(notes.proof(excluding: position(7)) == nil)
        #expect(notes.proof(excluding: position(9)) == position(7))
        #expect(notes.proof(excluding: SQLiteLogPosition(number: 7, nonce: 1)) == position(7))
        notes.forget(without: position(5))
        #expect(notes.settled.count == 1)
        notes.forget(without: position(7))
        #expect(notes.settled.isEmpty && notes.notes(about: 1...9).proof == nil)
    }
}
