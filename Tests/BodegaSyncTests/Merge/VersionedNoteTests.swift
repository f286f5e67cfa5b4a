import BodegaSync
import BodegaTesting
import Foundation
import RecordCoder
import TestSupport
import Testing

/// Programs of three versions edit one item in turns. Set `EMPORIUM_SEED` to repeat a run that failed.
@Suite struct VersionedNoteTests {
    private let seed = Seed.current

    init() { print("versions: EMPORIUM_SEED=\(seed)") }

    private typealias Edit = (inout VersionedNote) -> Void

    @Test("No version loses a member that it does not know, and each edit holds")
    func edits() throws {
        var random = SeededGenerator(seed: seed)
        // The item with all members: the model, which no coder has ever seen.
        var model = VersionedNote()
        var stored = try encode(model, version: 3, &random)
        var texts = 0
        for _ in 0..<TestSizes.versionedEdits {
            let version = Int.random(in: 1...3, using: &random)
            let edit = randomEdit(of: model, version: version, text: &texts, &random)
            let before = try decode(stored, version: version, &random)
            let known = try encode(before, version: version, &random)
            var edited = before
            edit(&edited)
            let new = try encode(edited, version: version, &random)
            edit(&model)
            let result = JSONMerge.preserving(new, known: known, stored: stored)
            let objects = try [known, new].map { try JSONSerialization.jsonObject(with: $0) as? NSDictionary }
            if objects[0] == objects[1] { #expect(result == stored) }
            let full = try decode(result, version: 3, &random)
            try #require(
                full == model,
                """
                version \(version)
                stored \(String(decoding: stored, as: UTF8.self))
                known \(String(decoding: known, as: UTF8.self))
                new \(String(decoding: new, as: UTF8.self))
                result \(String(decoding: result, as: UTF8.self))
                """)
            #expect(try decode(result, version: version, &random) == edited)
            stored = result
        }
    }

    private func encode(_ note: VersionedNote, version: Int, _ random: inout SeededGenerator) throws -> Data {
        if Bool.random(using: &random) { return try RecordEncoder(userInfo: [.version: version]).encode(note) }
        let encoder = JSONEncoder()
        encoder.userInfo = [.version: version]
        encoder.outputFormatting = Bool.random(using: &random) ? [.prettyPrinted, .sortedKeys] : []
        return try encoder.encode(note)
    }

    private func decode(_ data: Data, version: Int, _ random: inout SeededGenerator) throws -> VersionedNote {
        if Bool.random(using: &random) {
            return try RecordDecoder(userInfo: [.version: version]).decode(VersionedNote.self, from: data)
        }
        let decoder = JSONDecoder()
        decoder.userInfo = [.version: version]
        return try decoder.decode(VersionedNote.self, from: data)
    }

    /// An edit that means the same for the item as a version sees it and for the whole item.
    private func randomEdit(
        of note: VersionedNote, version: Int, text: inout Int, _ random: inout SeededGenerator
    ) -> Edit {
        text += 1
        let number = text
        let new = "\(text)"
        func part<Part: VersionedPart>() -> Part {
            var part = Part(new)
            if version >= 2, number % 2 == 0 { part.members.second = new }
            if version >= 3, number % 3 == 0 { part.members.third = new }
            return part
        }
        /// Sets a member that the version knows.
        func set<Part: VersionedPart>(_ part: inout Part) {
            switch number % version {
            case 0: part.members.first = new
            case 1: part.members.second = number % 5 == 0 ? nil : new
            default: part.members.third = number % 5 == 0 ? nil : new
            }
        }
        func index(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
        switch index(20) {
        case 0: return { $0.title = new }
        case 1: return { $0.due = Moment(seconds: number) }
        case 2:
            return { note in
                // The same case again would be an edit of its payload.
                if case .colored = note.kind { note.kind = .plain } else { note.kind = .colored(part()) }
            }
        case 3:
            return { note in
                guard case .colored(var line) = note.kind else { return }
                set(&line)
                note.kind = .colored(line)
            }
        case 4: return { $0.author = number % 4 == 0 ? nil : $0.author ?? part() }
        case 5:
            return { note in
                guard var author = note.author else { return }
                set(&author)
                note.author = author
            }
        case 6 where note.steps.count < 6:
            let place = index(note.steps.count + 1)
            return { $0.steps.insert(Step(id: number, line: part(), below: []), at: place) }
        case 7 where !note.steps.isEmpty:
            let place = index(note.steps.count)
            return { $0.steps.remove(at: place) }
        case 8 where !note.steps.isEmpty:
            let place = index(note.steps.count)
            return { set(&$0.steps[place].line) }
        case 9 where !note.steps.isEmpty:
            // Several edits: one moves, one is edited, one is new.
            let (from, to, edited) = (index(note.steps.count), index(note.steps.count), index(note.steps.count))
            return { note in
                note.steps.insert(note.steps.remove(at: from), at: to)
                set(&note.steps[edited].line)
                note.steps.insert(Step(id: number, line: part(), below: []), at: to)
                note.steps.remove(at: from)
            }
        case 10 where !note.steps.isEmpty:
            let place = index(note.steps.count)
            return { note in
                if note.steps[place].below.count < 3 {
                    note.steps[place].below.append(Step(id: number, line: part(), below: []))
                } else {
                    set(&note.steps[place].below[1].line)
                    note.steps[place].below.remove(at: 0)
                }
            }
        case 11 where note.lines.count < 6:
            let place = index(note.lines.count + 1)
            return { $0.lines.insert(part(), at: place) }
        case 12 where !note.lines.isEmpty:
            let place = index(note.lines.count)
            return { $0.lines.remove(at: place) }
        case 13 where !note.lines.isEmpty:
            let place = index(note.lines.count)
            return { set(&$0.lines[place]) }
        case 14 where !note.lines.isEmpty:
            let (from, to) = (index(note.lines.count), index(note.lines.count))
            return { $0.lines.insert($0.lines.remove(at: from), at: to) }
        case 15 where note.people.count < 6: return { $0.people.insert(Person(id: number, name: part())) }
        case 16 where !note.people.isEmpty:
            let ids = note.people.map(\.id).sorted()
            let id = ids[index(ids.count)]
            return { note in
                guard var person = note.people.first(where: { $0.id == id }) else { return }
                note.people.remove(person)
                set(&person.name)
                if number % 3 > 0 { note.people.insert(person) }
            }
        case 17:
            let size = Size.allCases[index(3)]
            return { note in
                guard var price = note.prices[size], number % 3 > 0 else {
                    note.prices[size] = note.prices[size] == nil ? part() : nil
                    return
                }
                set(&price)
                note.prices[size] = price
            }
        case 18 where version >= 2: return { $0.rating = number % 4 == 0 ? nil : number }
        case 19 where version >= 3:
            return { note in
                note.labels["\(number % 7)"] = number % 3 == 0 ? nil : part()
                note.kind = number % 5 == 0 ? .striped(number) : note.kind
            }
        default: return { _ in }
        }
    }
}
