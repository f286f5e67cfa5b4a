import Bodega
import Foundation

/// An item of the checks of indexes, with its sort key.
struct RankedItem: Sendable {
    let name: String
    let json: String
    let key: StorageSortKey

    private init(_ name: String, _ json: String, _ key: StorageSortKey) {
        (self.name, self.json, self.key) = (name, json, key)
    }

    private init(_ name: String, rank: String, _ key: StorageSortKey) {
        self.init(name, #"{"owner":{"rank":\#(rank)}}"#, key)
    }

    /// An item whose sort key is an integer.
    init(_ name: String, _ rank: Int) { self.init(name, rank: "\(rank)", .integer(Int64(rank))) }

    /// The index over the member that all items have.
    static let index = StorageIndex("owner.rank", isForText: false)

    /// Items of all kinds, out of order.
    static let all = [
        RankedItem("10", 10),
        RankedItem("b", rank: #""b""#, .text("b")),
        RankedItem("no rank", #"{"owner":{}}"#, .none),
        RankedItem("9", 9),
        RankedItem("true", rank: "true", .integer(1)),
        RankedItem("null", rank: "null", .none),
        RankedItem("0.5", rank: "0.5", .real(0.5)),
        RankedItem("no text", rank: #""""#, .text("")),
        RankedItem("10 and whitespace", #" { "rank": 1, "owner": { "name": "x", "rank" : 10 } } "#, .integer(10)),
        RankedItem("-5", -5),
        RankedItem("1.0", rank: "1.0", .integer(1)),
        RankedItem("1e1", rank: "1e1", .integer(10)),
        RankedItem("false", rank: "false", .integer(0)),
        RankedItem("2^53 + 1", 9_007_199_254_740_993),
        RankedItem("2^53", 9_007_199_254_740_992),
        RankedItem("10 again", 10),
        RankedItem("the smallest", .min),
        RankedItem("the largest", .max),
        RankedItem("-1e300", rank: "-1e300", .real(-1e300)),
        RankedItem("B", rank: #""B""#, .text("B")),
        RankedItem("b again", rank: #""b""#, .text("b")),
        RankedItem("beyond 16 bits", rank: "\"\u{1F600}\"", .text("\u{1F600}")),
        RankedItem("within 16 bits", rank: "\"\u{FF5E}\"", .text("\u{FF5E}")),
        RankedItem("10 as a text", rank: #""10""#, .text("10")),
        RankedItem("array", rank: "[1, 2]", .text("[1,2]")),
        RankedItem("no owner", "{}", .none),
        RankedItem("owner without members", #"{"owner":10}"#, .none),
    ]

    /// Items whose sort keys an engine may know or not.
    static let unusual: KeyValuePairs<String, Data> = [
        "no bytes": Data(), "text": bytes("no JSON"), "bytes": Data([0xFF, 0x00, 0xFE]),
        "cut": bytes(#"{"owner":{"rank":1}"#), "with a NUL": bytes("{\"owner\":{\"rank\":1}}\0"),
        "two": bytes(#"{"owner":{"rank":1}}{}"#), "array alone": bytes("[1]"), "string alone": bytes(#""owner""#),
        "escape": bytes(#"{"owner":{"rank":"\u0041"}}"#), "escaped name": bytes(#"{"owner":{"r\u0061nk":3}}"#),
        "twice": bytes(#"{"owner":{"rank":1,"rank":2}}"#), "half": bytes(#"{"owner":{"rank":"\uD83D"}}"#),
        "large": bytes(#"{"owner":{"rank":1e999}}"#), "composed": bytes("{\"owner\":{\"rank\":\"e\u{301}\"}}"),
        "long": bytes(#"{"owner":{"rank":"\#(String(repeating: "long", count: 3_000))"}}"#),
    ]

    /// Ranges of an index, of all items with a value, of those without one, and of parts.
    static let ranges: [Range] = {
        let (one, ten) = (StorageSortKey.integer(1), StorageSortKey.integer(10))
        let bounds: [(StorageSortKeyBound, StorageSortKeyBound)] = [
            (.start, .before(.none)), (.before(.none), .end), (.before(one), .after(ten)), (.after(one), .before(ten)),
            (.before(ten), .after(ten)), (.start, .before(.text(""))), (.before(.text("")), .before(.none)),
            (.after(.text("B")), .after(.text("b"))), (.after(ten), .before(.text("b"))),
            (.before(.real(0.5)), .before(one)), (.after(.real(0.5)), .after(.integer(9_007_199_254_740_992))),
            (.before(.integer(7)), .after(.integer(8))),
        ]
        return bounds.flatMap { lower, upper in
            [false, true].map { Range(lower: lower, upper: upper, isDescending: $0) }
        }
    }()

    /// Writes items.
    static func write(_ items: [RankedItem], to engine: any StorageEngine, _ examination: Examination) async throws {
        try await engine.write(items.map { (examination.key($0.name), bytes($0.json)) })
    }

    /// A range of the index.
    struct Range: Sendable, CustomStringConvertible {
        let lower, upper: StorageSortKeyBound
        let isDescending: Bool

        /// All items with a value.
        static let values = Range(lower: .start, upper: .before(.none), isDescending: false)
        /// All items without a value.
        static let none = Range(lower: .before(.none), upper: .end, isDescending: false)

        var description: String { "the range from \(lower) to \(upper)\(isDescending ? ", descending" : "")" }

        func scan(_ place: StoragePlace? = nil, of index: StorageIndex = RankedItem.index) -> StorageScan {
            .range(index, from: lower, to: upper, isDescending: isDescending, after: place)
        }

        /// The items in the range in its order, of items in insertion order.
        func items(of items: [RankedItem]) -> [RankedItem] {
            let found = items.filter { lower <= .before($0.key) && .before($0.key) < upper }
            // By index, because sorting need not keep the order of equal elements.
            return found.enumerated().sorted { left, right in
                let (one, other) = (left.element.key, right.element.key)
                return one == other ? left.offset < right.offset : isDescending ? one > other : one < other
            }
            .map(\.element)
        }
    }
}
