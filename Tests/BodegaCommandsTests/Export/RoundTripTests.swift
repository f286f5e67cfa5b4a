@testable import BodegaCommands
import Bodega
import Foundation
import Testing

/// Keys and values that are easily corrupted.
enum Hostile {
    static let strings = [
        "", "a", "é", "e\u{301}", "😀👨‍👩‍👧", "\0", "a\0b", "line\nend", "cr\r", "\t\u{1B}[31m", "a/b/../c", "..", ".", "/",
        "\\", "\"",
        "\u{2028}", "\u{FEFF}bom", "C:\\x", "con", "key", "$bodega", String(repeating: "k", count: 10_000),
        String(repeating: "é/", count: 3_000), " leading and trailing ", "\u{7F}", "\u{10FFFF}",
    ]

    static let values: [Data] =
        strings.map { Data($0.utf8) }
        + [
            #"{"a":1}"#, #" {"a":1}"#, "{\"a\":1}\n", "{\"a\":\r1}", "{\n}", "[1, 2 ]", "1e5", "1e", #""x""#, "null",
            "nul",
            #"{"$bodega":{"export":1}}"#, #"{"key":"k","text":"t"}"#, #""\ud83d""#, #"{"a":1}{"b":2}"#,
        ].map { Data($0.utf8) }
        + [
            Data([0xFF]), Data([0x22, 0xFF, 0x22]), Data([0, 1, 2, 0x0A, 0x0D]), Data(0...255),
            Data([0xED, 0xA0, 0x80]),
            Data(repeating: 0xAB, count: 300_000), Data(repeating: UInt8(ascii: "["), count: 5_000),
        ]

    /// Every value under a key of every kind, and every string as a key of every kind.
    static let items: [(key: CacheKey, data: Data)] = CacheKey.Kind.allCases.flatMap { kind in
        values.enumerated().map { (CacheKey(rawValue: "value \($0)", kind: kind), $1) }
            + strings.map { (CacheKey(rawValue: $0, kind: kind), Data("of \(kind)".utf8)) }
    }
}

@Suite("An export")
struct RoundTripTests {

    private func records(in bytes: [UInt8], piece: Int) throws -> [ImportRecord] {
        let input = ImportInput(path: nil, format: .auto, array: nil, key: nil, keyKind: .hashed)
        var source = try input.records(standardInput: MemorySource(bytes, piece: piece))
        var records: [ImportRecord] = []
        while let record = try source.next() { records.append(record) }
        return records
    }

    @Test("is read back with every key, kind and byte, in order")
    func everyItem() async throws {
        let engine = MemoryStorageEngine()
        try await engine.write(Hostile.items)
        let sink = MemorySink()
        let count = try await Exporter(engine: engine).run(to: sink).count
        #expect(count == Hostile.items.count)
        let read = try records(in: sink.bytes, piece: 4093)
        #expect(read == Hostile.items.map { ImportRecord(key: $0.key, data: $0.data) })
    }

    @Test("has one line per item, plus one, for any items")
    func lineCount() async throws {
        let engine = MemoryStorageEngine()
        try await engine.write(Hostile.items)
        let sink = MemorySink()
        try await Exporter(engine: engine).run(to: sink)
        #expect(sink.bytes.count { $0 == UInt8(ascii: "\n") } == Hostile.items.count + 1)
        #expect(!sink.bytes.contains(UInt8(ascii: "\r")))
    }

    @Test("can be concatenated with another, and an empty one has only its header")
    func joined() async throws {
        let sink = MemorySink()
        try await Exporter(engine: MemoryStorageEngine()).run(to: sink)
        #expect(sink.text == Envelope.header + "\n")
        let line = Envelope.line(key: CacheKey("k"), data: Data("1".utf8))
        #expect(String(decoding: line, as: UTF8.self) == "{\"key\":\"k\",\"json\":1}\n")
        let all = sink.bytes + line + sink.bytes + line
        #expect(try records(in: all, piece: 5).count == 2)
    }

    @Test("is divided into complete batches for any sizes")
    func batches() async throws {
        let engine = MemoryStorageEngine()
        let keys = (0..<3_000).map { CacheKey("\($0)") }
        try await engine.write(keys.enumerated().map { ($1, Data(count: $0 % 100 == 0 ? 100_000 : $0 % 7)) })
        var seen: [CacheKey] = []
        for try await batch in ItemBatches(of: keys, in: engine) { seen += batch.map(\.key) }
        #expect(seen == keys)
    }

    @Test(
        "that is malformed is refused with a reason",
        arguments: [
            (#"{"key":"a"}"#, "needs one of"), (#"{"key":"a","text":"x","json":1}"#, "needs one of"),
            (#"{"text":"x"}"#, "lacks"), (#"{"key":1,"text":"x"}"#, "lacks"),
            (#"{"key":"a","kind":"odd","text":"x"}"#, "kind"),
            (#"{"key":"a","base64":"*"}"#, "base64"), (#"{"key":"a","text":"x","extra":1}"#, "extra"),
            (#"{"key":"a","text":"x","key":"b"}"#, "twice"), (#"{"key":"a","text":"\ud83d"}"#, "needs one of"),
            ("[]", "not an object"), ("{}", "lacks"), (#"{"$bodega":{"export":99}}"#, "version"), ("{", "not complete"),
            (#"{"key":"a","text":"x"} 1"#, "more after"),
        ]
    )
    func refused(_ line: String, reason: String) throws {
        do {
            _ = try records(in: Array("\(Envelope.header)\n\n\(line)\n".utf8), piece: 3)
            Issue.record("It was accepted.")
        } catch let bad as BadRecord {
            #expect(bad.place == "line 3")
            #expect(bad.reason.contains(reason), "\(bad.reason)")
        }
    }
}
