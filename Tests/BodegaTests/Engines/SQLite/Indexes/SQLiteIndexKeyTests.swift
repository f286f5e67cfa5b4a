import BodegaTesting
import Foundation
import RecordCoder
import TestSupport
import Testing

@testable import Bodega

/// What an index of SQLite knows about items, and what Swift knows.
@Suite("The sort keys of an index")
struct SQLiteIndexKeyTests {

    private let folder = TemporaryFolder()
    private let engine: SQLiteStorageEngine

    init() throws { engine = try SQLiteStorageEngine(opening: folder.directory) }

    private static func key(_ document: Data, at path: String) -> StorageSortKey? {
        document.withUnsafeBytes { bytes in
            guard isValidUTF8(bytes), let range = JSONScanner.document(bytes) else { return nil }
            return StorageSortKey(bytes, StorageIndex.Member(path).query.find(in: bytes, range))
        }
    }

    /// The sort keys of the index, `nil` where the index knows nothing.
    private func keys(of documents: [Data], at path: String, isForText: Bool) async throws -> [StorageSortKey?] {
        let index = StorageIndex(path, isForText: isForText)
        try await engine.removeAllData()
        try await engine.createIndex(index)
        let names = documents.indices.map { CacheKey(verbatim: "\($0)") }
        try await engine.write(Array(zip(names, documents)))
        let entries = try await engine.fetch(FetchRequest(names, [.data, .place], index: index)).value
        let found = Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0.sortKey) })
        return names.map { found[$0] ?? nil }
    }

    /// Whether two keys are equal, apart from the last bits of a number.
    private static func areClose(_ left: StorageSortKey, _ right: StorageSortKey) -> Bool {
        if left == right { return true }
        func number(_ key: StorageSortKey) -> Double? {
            switch key {
            case .real(let real): real
            case .integer(let integer): Double(integer)
            default: nil
            }
        }
        guard let left = number(left), let right = number(right) else { return false }
        return abs(left - right) <= 2 * max(left.ulp, right.ulp)
            || left.isInfinite
                && right == Double(sign: left.sign, exponent: 0, significand: 1) * .greatestFiniteMagnitude
    }

    @Test("are those of Swift, or none", arguments: [false, true])
    func random(isForText: Bool) async throws {
        print("keys of indexes: EMPORIUM_SEED=\(Seed.current)")
        var samples = ModelSamples(seed: Seed.current)
        var known = 0
        for path in ["a", "n.c", "hard", "list"] {
            samples.beginRound()
            let documents = (0..<400).map { _ in Self.mutated(samples.document().bytes, &samples) }
            let found = try await keys(of: documents, at: path, isForText: isForText)
            for (document, key) in zip(documents, found) {
                guard let key else { continue }
                // SQLite does not look at bytes that are not UTF-8.
                if !document.withUnsafeBytes(isValidUTF8) { continue }
                let expected = Self.key(document, at: path)
                if expected == nil, Self.hasContainerAsName(document) { continue }
                let isSame = expected.map { Self.areClose($0, key) } ?? false
                #expect(
                    isSame,
                    """
                    seed \(Seed.current): \(String(decoding: document, as: UTF8.self)) at \(path): \(key), not \
                    \(String(describing: expected))
                    """
                )
            }
            known += found.count { $0 != nil }
        }
        // 40 for each round. One with a single value, which the index does not know, has fewer.
        #expect(known > 160)
    }

    /// Whether an array or an object seems to be the name of a member, which SQLite 3.40 takes for JSON.
    private static func hasContainerAsName(_ document: Data) -> Bool {
        String(decoding: document, as: UTF8.self).contains(/[\]}][ \t\r\n]*:/)
    }

    @Test("do not make an object with a container as a name a match, though SQLite 3.40 takes it for JSON")
    func containerAsName() async throws {
        let path = "a"
        let index = StorageIndex(path)
        let documents = [#"{"a":1}"#, #"{"a":1,["b"]:2}"#, #"{"a":1,{"b":"c"} :2}"#].map { Data($0.utf8) }
        #expect(documents.map { Self.key($0, at: path) } == [.integer(1), nil, nil])
        #expect(documents.map(Self.hasContainerAsName) == [false, true, true])
        #expect(try await keys(of: documents, at: path, isForText: true).first == .integer(1))
        let storage = ObjectStorage<Numbered>(storage: engine)
        let query = Query<Numbered>(where: #Predicate { $0.a == 1 })
        #expect(try await engine.fetchIndexes() == [index])
        let page = try await storage.fetch(query, omittingUndecodable: true)
        #expect(page.objects.map(\.a) == [1])
        #expect(Set(page.undecodable.map(\.key)) == [CacheKey(verbatim: "1"), CacheKey(verbatim: "2")])
        await #expect(throws: StorageError.self) { try await storage.fetch(query) }
    }

    /// Changes, removes or inserts a few bytes.
    private static func mutated(_ document: Data, _ samples: inout ModelSamples) -> Data {
        var bytes = [UInt8](document)
        guard samples.chance(40), !bytes.isEmpty else { return document }
        let interesting = Array("{}[]\":,\\/u0123456789eE+-.tfn \n\t\u{0}'".utf8)
        for _ in 0..<samples.pick([1, 1, 2, 4]) {
            let place = Int.random(in: 0..<bytes.count, using: &samples.random)
            switch samples.pick([0, 1, 2]) {
            case 0: bytes[place] = samples.pick(interesting)
            case 1: bytes.insert(samples.pick(interesting), at: place)
            default: if bytes.count > 1 { bytes.remove(at: place) }
            }
        }
        return Data(bytes)
    }

    @Test("are close to Swift's for any number")
    func numbers() async throws {
        var random = SeededGenerator(seed: Seed.current)
        let texts = (0..<3_000).map { _ -> String in
            let digits = (0..<Int.random(in: 1...[3, 17, 22, 40].randomElement(using: &random)!, using: &random)).map {
                _ in
                String(Int.random(in: 0...9, using: &random))
            }.joined()
            let sign = Bool.random(using: &random) ? "-" : ""
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return sign + "\(Double(bitPattern: random.next() & 0x7FEF_FFFF_FFFF_FFFF))"
            case 1: return sign + "1" + digits
            case 2: return sign + "1." + digits + "e\(Int.random(in: -330...310, using: &random))"
            default: return sign + "0." + digits + "e\(Int.random(in: -30...30, using: &random))"
            }
        }
        let documents = texts.map { Data("{\"a\":\($0)}".utf8) }
        let found = try await keys(of: documents, at: "a", isForText: false)
        for (document, key) in zip(documents, found) {
            let key = try #require(key)
            let expected = try #require(Self.key(document, at: "a"))
            #expect(
                Self.areClose(expected, key), "\(String(decoding: document, as: UTF8.self)): \(key), not \(expected)")
        }
    }

    @Test("are known of texts for which equality in Swift is that of scalars, and of no others")
    func texts() async throws {
        var samples = ModelSamples(seed: Seed.current)
        let scalars: [Unicode.Scalar] = [
            "a", "\u{E9}", "\u{301}", "\u{94D}", "\u{E38}", "\u{E48}", "\u{915}", "\u{AC00}", "\u{11A8}", "\u{4E00}",
            "\u{10FFFF}", " ", "\t", "\n", "\r",
        ]
        let random = (0..<400).map { _ in
            (0..<Int.random(in: 0...4, using: &samples.random)).map { _ in String(samples.pick(scalars)) }.joined()
        }
        let texts = random + ModelSamples.texts
        let documents = texts.map { Data("{\"a\":\(ModelSamples.plainSpelling(of: $0))}".utf8) }
        for (text, (document, key)) in zip(
            texts, zip(documents, try await keys(of: documents, at: "a", isForText: true)))
        {
            let isMixed = UUID(uuidString: text) != nil && text != text.uppercased() && text != text.lowercased()
            let isEscaped =
                document.contains(UInt8(ascii: "\\")) && String(decoding: document, as: UTF8.self).contains("\\u")
            let isKnown = SwiftText.isSafe(text) && !isMixed && !isEscaped
            #expect(key == (isKnown ? .text(text) : nil), "\(text)")
        }
        for (text, key) in zip(texts, try await keys(of: documents, at: "a", isForText: false)) where key != nil {
            #expect(key == .text(text))
        }
    }
}

private struct Numbered: Queryable {
    var a: Int

    static let indexes = [Index("a", \Numbered.a)]
}
