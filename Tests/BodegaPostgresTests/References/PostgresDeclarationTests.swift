#if Postgres
import Bodega
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

/// Declarations of references in PostgreSQL, by several programs and users.
@Suite("Declarations of references in PostgreSQL")
struct PostgresDeclarationTests {

    private static let reference = StorageReference("folder", to: "folders", onRemoval: .remove)

    @Test("are kept as they are, and replaced as a whole")
    func contents() async throws {
        let collections = try await Collections(nil, ["left", "a\u{0}\u{E9}", String(repeating: "n", count: 1_500)])
        #expect(try await collections.left.fetchReferences() == [])
        let names = ["", "e\u{301}", "\u{E9}", "a\u{0}b", "'; --", String(repeating: "n", count: 1_500)]
        for engine in collections.engines {
            let references = names.enumerated().map { index, name in
                StorageReference(
                    name, isList: index % 2 == 0, to: names[names.count - 1 - index], targetPath: name,
                    onRemoval: StorageReference.Removal.allCases[index % 4])
            }
            try await engine.declareReferences(references)
            #expect(try await Set(engine.fetchReferences()) == Set(references))
            let two = [references[0], references[0]]
            let error = await #expect(throws: StorageError.self) { try await engine.declareReferences(two) }
            #expect(error?.code == .invalidArgument)
            try await engine.declareReferences([references[1]])
            #expect(try await engine.fetchReferences() == [references[1]])
        }
        #expect(try await collections.schema.sql("SELECT count(*) FROM emporium_references") == "3")
        try await collections.database.removeCollection(named: "left")
        let removed = await #expect(throws: StorageError.self) { try await collections.left.declareReferences([]) }
        #expect(removed?.code == .placeRemoved)
    }

    @Test("of programs that are the first ones concurrently create one table")
    func concurrentCreation() async throws {
        let schema = try await Schemas.shared.schema()
        let databases = try await (0..<6).asyncMap { _ in
            try await PostgresDatabase(connecting: schema.url, options: .patient(maximumConnections: 2))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, database) in databases.enumerated() {
                group.addTask {
                    let engine = try await database.collection(named: "\(number)")
                    for _ in 0..<5 { try await engine.declareReferences([Self.reference]) }
                    try await engine.declareReferences([StorageReference("a", to: "\(number + 1)", onRemoval: .clear)])
                }
            }
            try await group.waitForAll()
        }
        #expect(try await schema.sql("SELECT count(*) FROM emporium_references") == "6")
        let marks = "SELECT string_agg(name, ',' ORDER BY name) FROM emporium_meta WHERE name LIKE 'referenced/%'"
        #expect(try await schema.sql(marks) == (1...6).map { "referenced/3\($0)" }.joined(separator: ","))
    }

    @Test("are seen by each removal of another program that begins after them")
    func otherPrograms() async throws {
        let schema = try await Schemas.shared.schema()
        let other = try await Collections(schema, ["folders", "notes"])
        let own = try await Collections(schema, ["notes"])
        for round in 0..<20 {
            let isDeclared = round % 2 == 0
            try await other.left.write(Folders.folder("1"), key: CacheKey("1"))
            try await other.right.write(Folders.note("a", in: "1"), key: CacheKey("a"))
            try await own.left.declareReferences(isDeclared ? [Self.reference] : [])
            let keys = round % 4 < 2 ? [CacheKey("1")] : [CacheKey("1"), CacheKey("2")]
            try await other.left.remove(keys: keys)
            #expect(try await other.right.fetchCount() == (isDeclared ? 0 : 1), "round \(round)")
        }
        // Of a collection that is removed, and comes again, and to one that comes later.
        try await own.left.declareReferences([Self.reference])
        try await other.database.removeCollection(named: "folders")
        try await other.database.removeCollection(named: "notes")
        let again = try await Collections(schema, ["folders", "notes"])
        try await again.left.write(Folders.folder("1"), key: CacheKey("1"))
        try await again.right.write(Folders.note("a", in: "1"), key: CacheKey("a"))
        try await again.left.remove(key: CacheKey("1"))
        #expect(try await again.right.fetchCount() == 0)
    }

    @Test("lead to collections of any name", arguments: [true, false])
    func names(isOne: Bool) async throws {
        let long = String(repeating: "é", count: 700)
        let names = ["\u{E9}", "e\u{301}", "a\u{0}b", "'; --", long, long + "2"]
        let collections = try await Collections(nil, ["notes"] + names)
        try await collections.left.declareReferences(
            names.enumerated().map { StorageReference("m\($0)", to: $1, onRemoval: .remove) })
        try await collections.left.write(names.indices.map { (CacheKey("\($0)"), Data(#"{"m\#($0)":1}"#.utf8)) })
        for (number, engine) in collections.engines.dropFirst().enumerated() {
            try await engine.write(Data(#"{"id":1}"#.utf8), key: CacheKey("k"))
            try await engine.remove(keys: isOne ? [CacheKey("k")] : [CacheKey("k"), CacheKey("none")])
            let left = try await collections.left.fetchKeys().map(\.rawValue)
            #expect(left == names.indices.dropFirst(number + 1).map { "\($0)" })
        }
    }

    @Test("need the right to create a table once, and that to write items later")
    func rights() async throws {
        let owner = try await Collections(nil, ["folders", "notes"])
        let url = try await owner.schema.urlOfWriter()
        let database = try await PostgresDatabase(connecting: url, options: .patient())
        let folders = try await database.collection(named: "folders")
        let notes = try await database.collection(named: "notes")
        func fill() async throws {
            try await folders.write(["1", "2", "3", "4"].map { (CacheKey($0), Folders.folder($0)) })
            try await notes.write(["1", "2", "3", "4"].map { (CacheKey($0), Folders.note($0, in: $0)) })
        }
        try await fill()
        #expect(try await notes.fetchReferences() == [])
        let error = await #expect(throws: StorageError.self) { try await notes.declareReferences([Self.reference]) }
        #expect(error?.code == .permissionDenied)
        try await folders.remove(key: CacheKey("1"))
        try await folders.remove(keys: [CacheKey("2"), CacheKey("3")])
        try await folders.removeAllData()
        #expect(try await notes.fetchCount() == 4)
        // The owner creates the table for all users.
        try await owner.left.declareReferences([])
        try await notes.declareReferences([Self.reference])
        try await fill()
        try await folders.remove(key: CacheKey("1"))
        #expect(try await notes.fetchKeys().map(\.rawValue) == ["2", "3", "4"])
        try await folders.remove(keys: [CacheKey("2"), CacheKey("3")])
        #expect(try await notes.fetchKeys().map(\.rawValue) == ["4"])
        try await folders.removeAllData()
        #expect(try await owner.schema.sql("SELECT count(*) FROM emporium_items") == "0")
    }

    @Test("are in the schema of the other tables, also if another one is searched first")
    func schemas() async throws {
        let schema = try await Schemas.shared.schema()
        let name = schema.name
        try await PostgresDatabase(connecting: schema.url, options: .patient()).disconnect()
        try await schema.sql("CREATE SCHEMA first_\(name)")
        let path = schema.url.replacingOccurrences(of: "%3D\(name)", with: "%3Dfirst_\(name),\(name)")
        let collections = try await Collections(
            Schemas.Schema(name: name, database: schema.database), ["folders", "notes"])
        let other = try await PostgresDatabase(connecting: path, options: .patient())
        try await other.collection(named: "notes").declareReferences([Self.reference])
        #expect(try await collections.right.fetchReferences() == [Self.reference])
        let place =
            "SELECT schemaname FROM pg_tables WHERE tablename = 'emporium_references' AND schemaname ~ '\(name)'"
        #expect(try await schema.sql(place) == name)
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
#endif
