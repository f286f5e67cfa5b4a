import Bodega
import Testing

@testable import Boutique

/// The changes that a store shows of those in an engine's log.
@Suite struct RecordChangesTests {

    private let origin = StorageOrigin()

    /// Parses changes: a key, then `+` for a write or `-` for a removal, then `!` for a change of the store itself.
    private func changes(_ texts: [String]) -> [StorageChange] {
        texts.map { text in
            StorageChange(
                key: CacheKey(String(text.prefix(1))),
                kind: text.contains("+") ? .written : .removed,
                origin: text.contains("!") ? origin : nil
            )
        }
    }

    /// - Parameter stored: The records that other origins have written, each with the text of its item.
    private func read(_ texts: String..., stored: [String: String] = [:]) -> RecordChanges<Note> {
        let records = stored.map { key, text in
            (CacheKey(key), DecodedRecord.item(Note(id: key, text: text), belongsUnder: CacheKey(key), isOld: false))
        }
        return RecordChanges(changes(texts), records, upTo: StorageCursor(rawValue: "1"), ownOrigin: origin)
    }

    /// Returns the items after changes, and the reported versions in order.
    private func show(
        _ changes: RecordChanges<Note>,
        after shown: [String],
        with operations: [StoreChange<Note>] = []
    ) throws -> (items: [String], reported: [String]) {
        var contents = OrderedItems<Note>()
        for id in shown { contents.insert(Note(id: id, text: "shown"), under: CacheKey(id)) }
        let result = try #require(changes.shown(after: contents, RecordExceptions(), with: [operations]))
        var reported: [String] = []
        for change in result.changes {
            let event = contents.apply(change, reportsEvent: true)
            reported +=
                event.map { $0.operation == .insert ? $0.items.map(\.text) : $0.removedIDs.map { "-" + $0 } } ?? []
        }
        return (contents.items.map { $0.id + ":" + $0.text }, reported)
    }

    private func items(
        _ changes: RecordChanges<Note>,
        after shown: [String],
        with operations: [StoreChange<Note>] = []
    ) throws -> [String] {
        try show(changes, after: shown, with: operations).items
    }

    private func insertion(_ id: String, _ text: String) -> StoreChange<Note> {
        .insert(keys: [CacheKey(id)], items: [Note(id: id, text: text)])
    }

    @Test("Removing and then writing leads to the same items in the same order as the individual changes")
    func netEffect() {
        let net = NetEffect(changes(["a+", "b+", "a-", "c-", "b+!", "a+!", "d+", "d-", "c+", "a+"]), of: origin)
        #expect(net.removed == ["a", "c", "d"].map { CacheKey($0) })
        #expect(net.written == ["b", "a", "c"].map { CacheKey($0) })
        #expect(net.own == [CacheKey("b")])
    }

    @Test("Changes are foreign if one of them has another origin or none")
    func foreign() {
        #expect(!read("a+!", "b-!").hasForeignChanges)
        #expect(!read().hasForeignChanges)
        #expect(!RecordChanges<Note>(ownUpTo: StorageCursor(rawValue: "1")).hasForeignChanges)
        #expect(read("a+!", "b-").hasForeignChanges)
        #expect(read("a+").hasForeignChanges)
    }

    @Test("Own operations are shown among foreign changes in the order of the log")
    func order() throws {
        let found = read("b+", "c+!", "d+", stored: ["b": "foreign", "d": "foreign"])
        let shown = try items(found, after: ["a"], with: [insertion("c", "own")])
        #expect(shown == ["a:shown", "b:foreign", "c:own", "d:foreign"])
    }

    @Test("If both origins have written an item, the later version is shown, in the place of the first")
    func overwritten() throws {
        let ownIsLast = read("b+", "c+", "b+!", stored: ["b": "own, decoded", "c": "foreign"])
        #expect(
            try items(ownIsLast, after: ["a"], with: [insertion("b", "own")]) == ["a:shown", "b:own", "c:foreign"])
        let foreignIsLast = read("b+!", "c+!", "b+", stored: ["b": "foreign"])
        let operations = [insertion("b", "own b"), insertion("c", "own c")]
        let shown = try show(foreignIsLast, after: ["a"], with: operations)
        #expect(shown.items == ["a:shown", "b:foreign", "c:own c"])
        #expect(shown.reported == ["own b", "own c", "foreign"])
        let around = read("d+", "b+!", "d+", "b-", stored: ["d": "foreign"])
        let reported = try show(around, after: ["a"], with: [insertion("b", "own b")])
        #expect(reported.items == ["a:shown", "d:foreign"])
        #expect(reported.reported == ["foreign", "own b", "-b"])
    }

    @Test("The later of an own and a foreign change of the same item wins, also if one is a removal")
    func removed() throws {
        let again = read("a-!", "a+", stored: ["a": "foreign"])
        #expect(try items(again, after: ["a", "b"], with: [.remove([CacheKey("a")])]) == ["b:shown", "a:foreign"])
        let gone = read("c+!", "c-", "a-")
        #expect(try items(gone, after: ["a", "b"], with: [insertion("c", "own")]) == ["b:shown"])
        let all = read("c+", "a-!", "b-!", "c-!", "d+", stored: ["d": "foreign"])
        #expect(try items(all, after: ["a", "b"], with: [.removeAll]) == ["d:foreign"])
    }

    @Test("Own changes that are shown already are not shown again")
    func alreadyShown() throws {
        let found = read("a-!", "a+!", "c+", stored: ["c": "foreign"])
        #expect(try items(found, after: ["b", "a"]) == ["b:shown", "a:shown", "c:foreign"])
    }
}
