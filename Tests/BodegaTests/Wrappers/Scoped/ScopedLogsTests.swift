import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Clients whose scopes share one reader of the log each see what a naive program sees that filters all items first.
@Suite struct ScopedLogsTests {

    private struct Note: Codable {
        var owner: String
        var rank: Int
        var folder: Folder

        struct Folder: Codable { var name: String }
    }

    /// A filter, and the same by hand.
    private struct Rule: Sendable {
        let scope: StorageScope
        let contains: @Sendable (Note) -> Bool
    }

    private static func rules() throws -> [Rule] {
        func rule(_ filter: String, _ contains: @escaping @Sendable (Note) -> Bool) throws -> Rule {
            Rule(scope: try StorageScope(matching: filter), contains: contains)
        }
        // Swift takes two spellings of "é" for one.
        @Sendable func isSame(_ left: String, _ right: String) -> Bool { Array(left.utf8) == Array(right.utf8) }
        return [
            try rule(#"@.owner == "ada""#) { $0.owner == "ada" },
            try rule(#""bob" == @.owner"#) { $0.owner == "bob" },
            try rule(#"@.owner == "ada" && @.rank > 1"#) { $0.owner == "ada" && $0.rank > 1 },
            try rule(#"@.rank > 1 && @.owner == "bob""#) { $0.owner == "bob" && $0.rank > 1 },
            try rule(#"@.owner == "ada" || @.owner == "bob""#) { $0.owner == "ada" || $0.owner == "bob" },
            try rule(#"!(@.owner == "ada")"#) { $0.owner != "ada" },
            try rule(#"@.owner != "ada""#) { $0.owner != "ada" },
            try rule("@.rank == 1") { $0.rank == 1 },
            try rule(#"@.owner == "ada" && @.owner == "bob""#) { _ in false },
            Rule(scope: StorageScope(where: "folder.name", equals: "ada")) { $0.folder.name == "ada" },
            Rule(scope: StorageScope(where: "owner", equals: "\u{E9}")) { isSame($0.owner, "\u{E9}") },
            Rule(scope: StorageScope(where: "owner", equals: "e\u{301}")) { isSame($0.owner, "e\u{301}") },
        ]
    }

    private struct Reader {
        let rule: Rule
        let engine: ScopedStorageEngine
        var items: [CacheKey: Data] = [:]
        var cursor: StorageCursor?

        mutating func read() async throws {
            guard let log = engine.log else { throw StorageError(.closed, "The engine has no log.") }
            if let cursor, let delta = try await log.fetchChanges(ChangesRequest(since: cursor, needsItems: true)).value
            {
                for change in delta.changes { items[change.key] = nil }
                for item in delta.items { items[item.key] = item.data }
                self.cursor = delta.cursor
            } else {
                let snapshot = try await engine.fetchSnapshot()
                items = Dictionary(uniqueKeysWithValues: snapshot.items.map { ($0.key, $0.data) })
                cursor = snapshot.cursor
            }
        }
    }

    private let folder = TemporaryFolder()

    @Test(arguments: [false, true])
    func `Readers that come and go see the items of their scopes`(isSQLite: Bool) async throws {
        let base: any StorageBackend =
            isSQLite
            ? try SQLiteStorageEngine(openingFile: folder.file("items"), durability: .relaxed) : MemoryStorageEngine()
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let rules = try Self.rules()
        let logs = ScopedLogs(base: base)
        var readers: [Reader] = []
        var all: [CacheKey: Note] = [:]
        let keys = (0..<10).map { CacheKey(verbatim: "key \($0)") }
        let names = ["ada", "bob", "\u{E9}", "e\u{301}"]
        for step in 0..<TestSizes.wrappedModelSteps {
            let key = keys.randomElement(using: &random) ?? keys[0]
            if Int.random(in: 0..<4, using: &random) == 0 {
                try await base.remove(key: key)
                all[key] = nil
            } else {
                let note = Note(
                    owner: names.randomElement(using: &random) ?? "", rank: .random(in: 0...3, using: &random),
                    folder: .init(name: names.randomElement(using: &random) ?? ""))
                try await base.write(try JSONEncoder().encode(note), key: key)
                all[key] = note
            }
            if Int.random(in: 0..<4, using: &random) == 0 {
                let rule = rules.randomElement(using: &random) ?? rules[0]
                readers.append(Reader(rule: rule, engine: logs.engine(for: rule.scope)))
            }
            if readers.count > 20 { readers.remove(at: .random(in: 0..<20, using: &random)) }
            for index in readers.indices where Int.random(in: 0..<3, using: &random) == 0 {
                try await readers[index].read()
                let (reader, expected) = (readers[index], all.filter { readers[index].rule.contains($0.value) })
                #expect(Set(reader.items.keys) == Set(expected.keys), "seed \(seed), step \(step)")
                for (key, data) in reader.items {
                    let note = try JSONDecoder().decode(Note.self, from: data)
                    #expect(note.rank == expected[key]?.rank, "seed \(seed), step \(step)")
                }
            }
        }
    }

    @Test func `All readers get the changes that others write at the same time`() async throws {
        let base = MemoryStorageEngine()
        let logs = ScopedLogs(base: base)
        let owners = (0..<8).map { "user \($0)" }
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for owner in owners {
                let engine = logs.engine(for: StorageScope(where: "owner", equals: owner))
                group.addTask {
                    var reader = Reader(
                        rule: Rule(scope: StorageScope(where: "owner", equals: owner)) { _ in true }, engine: engine)
                    // The last item of each owner is written after all others.
                    for await _ in engine.changeSignals() {
                        try await reader.read()
                        if reader.items[CacheKey("\(owner) last")] != nil { break }
                    }
                    return reader.items.count
                }
            }
            for number in 0..<50 {
                for owner in owners { try await base.write(Self.note(owner), key: CacheKey("\(owner) \(number)")) }
            }
            for owner in owners { try await base.write(Self.note(owner), key: CacheKey("\(owner) last")) }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == owners.map { _ in 51 })
    }

    private static func note(_ owner: String) -> Data { Data(#"{"owner":"\#(owner)"}"#.utf8) }
}
