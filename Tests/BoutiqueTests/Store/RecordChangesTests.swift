import Bodega
import Testing

@testable import Boutique

/// What a store shows of the changes in an engine's log.
@Suite struct RecordChangesTests {

    private let origin = StorageOrigin()

    /// Changes as text: a key and `+` or `-`, with `!` after it if the store itself made the change.
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

    /// The items after changes, and the versions that were shown on the way.
    private func show(
        _ changes: RecordChanges<Note>,
        after shown: [String],
        with operations: [StoreChange<Note>] = []
    ) throws -> (items: [String], told: [String]) {
        var contents = OrderedItems<Note>()
        for id in shown { contents.insert(Note(id: id, text: "shown"), under: CacheKey(id)) }
        let result = try #require(changes.shown(after: contents, RecordExceptions(), with: [operations]))
        var told: [String] = []
        for change in result.changes {
            let event = contents.apply(change, reportsEvent: true)
            told += event.map { $0.operation == .insert ? $0.items.map(\.text) : $0.removed.map { "-" + $0 } } ?? []
        }
        return (contents.items.map { $0.id + ":" + $0.text }, told)
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

    @Test("Removing and then writing leads to the same items in the same order as the changes one by one")
    func netEffect() {
        let net = NetEffect(changes(["a+", "b+", "a-", "c-", "b+!", "a+!", "d+", "d-", "c+", "a+"]), of: origin)
        #expect(net.removed == ["a", "c", "d"].map { CacheKey($0) })
        #expect(net.written == ["b", "a", "c"].map { CacheKey($0) })
        #expect(net.own == [CacheKey("b")])
    }

    @Test("Changes are foreign if one of them is of another origin, or of none")
    func foreign() {
        #expect(!read("a+!", "b-!").hasForeignChanges)
        #expect(!read().hasForeignChanges)
        #expect(!RecordChanges<Note>(ownUpTo: StorageCursor(rawValue: "1")).hasForeignChanges)
        #expect(read("a+!", "b-").hasForeignChanges)
        #expect(read("a+").hasForeignChanges)
    }

    @Test("Own operations come to the places that the log gives them among the changes of others")
    func order() throws {
        let found = read("b+", "c+!", "d+", stored: ["b": "theirs", "d": "theirs"])
        let shown = try items(found, after: ["a"], with: [insertion("c", "own")])
        #expect(shown == ["a:shown", "b:theirs", "c:own", "d:theirs"])
    }

    @Test("Of an item that both have written, the later version is shown, at the place of the first")
    func overwritten() throws {
        let ownIsLast = read("b+", "c+", "b+!", stored: ["b": "own, decoded", "c": "theirs"])
        #expect(
            try items(ownIsLast, after: ["a"], with: [insertion("b", "own")]) == ["a:shown", "b:own", "c:theirs"])
        let theirsIsLast = read("b+!", "c+!", "b+", stored: ["b": "theirs"])
        let operations = [insertion("b", "own b"), insertion("c", "own c")]
        let shown = try show(theirsIsLast, after: ["a"], with: operations)
        #expect(shown.items == ["a:shown", "b:theirs", "c:own c"])
        #expect(shown.told == ["own b", "own c", "theirs"])
        let around = read("d+", "b+!", "d+", "b-", stored: ["d": "theirs"])
        let told = try show(around, after: ["a"], with: [insertion("b", "own b")])
        #expect(told.items == ["a:shown", "d:theirs"])
        #expect(told.told == ["theirs", "own b", "-b"])
    }

    @Test("What an own operation removed and others wrote again is there, and the other way round")
    func removed() throws {
        let again = read("a-!", "a+", stored: ["a": "theirs"])
        #expect(try items(again, after: ["a", "b"], with: [.remove([CacheKey("a")])]) == ["b:shown", "a:theirs"])
        let gone = read("c+!", "c-", "a-")
        #expect(try items(gone, after: ["a", "b"], with: [insertion("c", "own")]) == ["b:shown"])
        let all = read("c+", "a-!", "b-!", "c-!", "d+", stored: ["d": "theirs"])
        #expect(try items(all, after: ["a", "b"], with: [.removeAll]) == ["d:theirs"])
    }

    @Test("Own changes that are shown already stay as they are")
    func alreadyShown() throws {
        let found = read("a-!", "a+!", "c+", stored: ["c": "theirs"])
        #expect(try items(found, after: ["b", "a"]) == ["b:shown", "a:shown", "c:theirs"])
    }
}
