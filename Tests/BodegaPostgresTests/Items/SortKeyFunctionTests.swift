#if Postgres
import Bodega
import BodegaTesting
import Crypto
import Foundation
import RecordCoder
import TestSupport
import Testing

@testable import BodegaPostgres

/// The function on the server against the sort keys of Swift.
@Suite(.serialized)
struct SortKeyFunctionTests {

    private func session(_ schema: Schemas.Schema) async throws -> Session {
        try await SessionPool(target: ConnectionTarget(schema.url), limit: 1, connectTimeout: 60)
            .makeSession(until: .after(60))
    }

    /// A session with the function, and without tables.
    private func session() async throws -> Session {
        let schema = try await Schemas.shared.schema()
        let session = try await session(schema)
        let definition = SortKeyFunction.definition(inSchema: schema.name)
        _ = try await session.run(definition.map { Command(Statement($0)) }, patience: 60)
        return session
    }

    /// The function's results for some documents.
    private func keys(
        _ documents: [Data], _ index: StorageIndex, _ session: Session
    ) async throws -> [[UInt8]] {
        let sql = """
            SELECT \(SortKeyFunction.call(index.first))
            FROM unnest($1::bytea[]) WITH ORDINALITY AS d (data, place) ORDER BY place
            """
        let rows = try await session.run(Command(Statement(sql), BinaryArray(documents)), patience: 60)
        return try (0..<rows.count).map { row in Array(try #require(rows.bytes(row, 0))) }
    }

    /// The sort key in Swift; `nil` if the document is not JSON.
    private func key(_ document: Data, _ index: StorageIndex) -> StorageSortKey? {
        document.withUnsafeBytes { bytes in
            JSONScanner.document(bytes).map { StorageSortKey(bytes, index.first.query.find(in: bytes, $0)) }
        }
    }

    private static let values = [
        "null", "true", "false", "0", "-0", "0.0", "-0.0", "1", "1.0", "1e0", "10E-1", "-1", "0.1", "-0.1", "1e-320",
        "-1e-320",
        "4.9e-324", "2.2250738585072014e-308", "1e308", "-1e308", "1.7976931348623157e308", "9007199254740991",
        "9007199254740992", "9007199254740993", "9007199254740994", "9007199254740993.0", "-9007199254740991",
        "-9007199254740992", "-9007199254740993", "-9007199254740994", "9223372036854775807", "9223372036854775806",
        "9223372036854775295", "9223372036854774784", "9223372036854775808", "9223372036854775809",
        "-9223372036854775807",
        "-9223372036854775808", "-9223372036854775809", "18446744073709551616", "1e19", "123456789012345678",
        "1234567890123456789", "0.30000000000000004", "0.3", #""""#, #"" ""#, #""a""#, #""A""#, #""b""#, #""ab""#,
        #""é""#,
        #""e\#u{301}""#, #""Ω""#, #""日本""#, #""😀""#, #""\#u{FFFD}""#, #""\#u{10FFFF}""#, #""a\nb""#, #""a\/b""#,
        #""a\\b""#,
        #""a\"b""#, #""\#u{7F}""#, #""123e4567-e89b-12d3-a456-426614174000""#,
        #""123E4567-E89B-12D3-A456-426614174000""#,
    ]

    private var documents: [Data] { Self.values.map { Data(#"{"b": 1, "a": \#($0)}"#.utf8) } + [Data("{}".utf8)] }

    @Test func `The function returns the sort keys of Swift, in their order`() async throws {
        let index = StorageIndex("a", isForText: false)
        let found = try await keys(documents, index, session())
        let expected = try documents.map { try #require(key($0, index)) }
        #expect(found == expected.map(SortKeyBytes.bytes))
        for (left, leftBytes) in zip(expected, found) {
            for (right, rightBytes) in zip(expected, found) {
                #expect((left < right) == leftBytes.lexicographicallyPrecedes(rightBytes), "\(left) \(right)")
                #expect((left == right) == (leftBytes == rightBytes), "\(left) \(right)")
            }
        }
        for (key, bytes) in zip(expected, found) {
            #expect(try bytes.withUnsafeBytes(SortKeyBytes.key) == key)
        }
    }

    @Test func `In an index for text, the function knows nothing about texts that Swift compares otherwise`()
        async throws
    {
        let index = StorageIndex("a")
        var texts = [
            "a", "é", "e\u{301}", "日本", "\u{1}", "\u{7F}", "\u{212B}", "\u{E38}\u{E38}", "\u{E38}a\u{E38}", "😀", "각",
            "a\tb", "a\nb", "\r\n", "\r",
        ]
        for scalar in stride(from: 0x20 as UInt32, to: 0x30_000, by: 37) {
            if let scalar = Unicode.Scalar(scalar) { texts.append("x\(scalar)") }
        }
        let documents = try texts.map { try JSONEncoder().encode(["a": $0]) }
        let found = try await keys(documents, index, session())
        for (text, (document, found)) in zip(texts, zip(documents, found)) {
            // Foundation escapes control characters.
            let isEscaped = String(decoding: document, as: UTF8.self).contains("\\u")
            let isKnown = SwiftText.isSafe(text) && !isEscaped
            #expect(
                found == (isKnown ? SortKeyBytes.bytes(of: .text(text)) : SortKeyBytes.irregular),
                "\(text.debugDescription)")
        }
        let identifiers = [
            "123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000",
            "123E4567-e89b-12d3-a456-426614174000", "12345678-1234-1234-1234-123456789012",
        ]
        let keys = try await keys(identifiers.map { Data(#"{"a":"\#($0)"}"#.utf8) }, index, session())
        #expect(keys.map { $0 != SortKeyBytes.irregular } == [true, true, false, true])
    }

    @Test func `Nothing is known about documents that the server could read otherwise than Swift`() async throws {
        var documents = [
            "", " ", "x", "{", #"{"a":1"#, #"{"a":01}"#, #"{"a":1}}"#, #"{"a":NaN}"#, "\u{FEFF}{\"a\":1}",
            "{\"a\":\"\u{1}\"}",
            #"{"a":[1]}"#, #"{"a":{}}"#, #"{"\u0061":1}"#, #"{"a":"\u0000"}"#, #"{"a":1,"b":"\ud800"}"#,
            #"{"a":1e999}"#,
            #"{"a":-1e999}"#, #"{"a":1e-999}"#, #"{"a":"\#(String(repeating: "x", count: 1_001))"}"#,
            String(repeating: "[", count: 100_000), "{\"a\":1}\u{0}",
        ].map { Data($0.utf8) }
        documents += [Data([0xFF]), Data([0]), Data(#"{"a":""#.utf8) + [0xC3] + Data("\"}".utf8), Data(count: 1_000)]
        documents.append(Data(#"{"a":1,"b":""#.utf8) + Data(repeating: 0x78, count: 16_777_216) + Data("\"}".utf8))
        let found = try await keys(documents, StorageIndex("a"), session())
        #expect(found == documents.map { _ in SortKeyBytes.irregular })
        let longest = Data(#"{"a":"\#(String(repeating: "x", count: 1_000))"}"#.utf8)
        #expect(try await keys([longest], StorageIndex("a"), session())[0].count == 1_001)
    }

    @Test func `The function finds members as Swift does`() async throws {
        let seed = Seed.current
        print("members of random documents: EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        let documents = (0..<4_000).map { _ in Self.document(&random) }
        let session = try await session()
        for path in ["a", "b", "a.b", "a.a.b", "0", "a\\.b", "a/b", "a\"", "", "a\u{1}", "é", "a.0", "a\\\\"] {
            let index = StorageIndex(path, isForText: false)
            let found = try await keys(documents, index, session)
            var known = 0
            for (document, found) in zip(documents, found) where found != SortKeyBytes.irregular {
                known += 1
                let expected = key(document, index).map(SortKeyBytes.bytes)
                if found != expected {
                    Issue.record("\(path) in \(String(decoding: document, as: UTF8.self)): \(found), \(expected ?? [])")
                }
            }
            #expect(known > 1_000)
        }
    }

    /// A random document whose names repeat, and have several spellings.
    private static func document(_ random: inout SeededGenerator) -> Data {
        let names = [
            "a", "b", "0", "a.b", "a/b", #"a\/b"#, #"a\""#, "", #"\u0061"#, "é", #"a\\"#, "c", #"a\t"#,
        ]
        func space() -> String { ["", "", "", " ", "\n", "\t\r "].randomElement(using: &random) ?? "" }
        func value(_ depth: Int) -> String {
            switch Int.random(in: 0..<(depth > 3 ? 5 : 9), using: &random) {
            case 0: return ["null", "true", "false"].randomElement(using: &random) ?? ""
            case 1: return "\(Int.random(in: -2...2, using: &random))"
            case 2: return ["0.5", "1e2", "-0", "9007199254740993", "1E+2"].randomElement(using: &random) ?? ""
            case 3, 4: return "\"\(names.randomElement(using: &random) ?? "")\""
            case 5:
                let elements = (0..<Int.random(in: 0...2, using: &random)).map { _ in
                    space() + value(depth + 1) + space()
                }
                return "[\(elements.joined(separator: ","))]"
            default:
                let members = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                    let name = names.randomElement(using: &random) ?? ""
                    return "\(space())\"\(name)\"\(space()):\(space())\(value(depth + 1))\(space())"
                }
                return "{\(members.joined(separator: ",")) }"
            }
        }
        var document = Data((space() + value(Int.random(in: 0...1, using: &random)) + space()).utf8)
        if Int.random(in: 0..<10, using: &random) == 0, !document.isEmpty {
            let place = Int.random(in: 0..<document.count, using: &random)
            document[document.startIndex + place] = UInt8.random(in: 0...255, using: &random)
        }
        return document
    }

    /// Indexes contain what the function returned when an item was written.
    @Test func `The function of a version does not change`() {
        let digest = SHA256.hash(data: Data(SortKeyFunction.body.utf8))
        let text = digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        #expect(SortKeyFunction.version == 1)
        #expect(
            text == "b2b7ebe7f152563ccc38ddff495a2060e695f258cc0f1287a1abf8ab81d85db8",
            "Restore the function, or give the changed one another version.")
    }

    @Test(arguments: ["LATIN1", "SQL_ASCII", "EUC_JP"])
    func `In a database with another encoding, the function is right or knows nothing`(encoding: String) async throws {
        let server = try await PostgresServer.shared()
        let name = "encoded_\(encoding.lowercased())_\(UInt32.random(in: 0 ... .max))"
        try await server.sql("CREATE DATABASE \(name) TEMPLATE template0 ENCODING '\(encoding)' LOCALE 'C'")
        let engine = try await PostgresStorageEngine(
            connecting: server.url(database: name), collection: "notes",
            options: .patient(maximumConnections: 2, partitions: 1))
        let plain = StorageIndex("a", isForText: false)
        try await engine.createIndex(plain)
        try await engine.createIndex(StorageIndex("a"))
        try await engine.write(
            documents.enumerated().map { number, document in (key: CacheKey("\(number)"), data: document) })
        for isForText in [true, false] {
            let index = StorageIndex("a", isForText: isForText)
            let entries = try await engine.fetch(FetchRequest(engine.fetchKeys(), [.data, .place], index: index)).value
            #expect(entries.count == documents.count)
            for entry in entries where entry.sortKey != nil {
                #expect(entry.sortKey == key(entry.data, index))
            }
            #expect(entries.filter { $0.sortKey != nil }.count > 50)
        }
        #expect(try await engine.fetchIndexes().count == 2)
        if encoding == "LATIN1" {
            let error = await #expect(throws: StorageError.self) { try await engine.createIndex(StorageIndex("日")) }
            #expect(error?.code == .invalidArgument)
        }
        engine.database.disconnect()
    }
}
#endif
