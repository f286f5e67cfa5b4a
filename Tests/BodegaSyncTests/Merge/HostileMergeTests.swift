import BodegaSync
import BodegaTesting
import Foundation
import Testing

/// Items that are hardly JSON, or not at all.
@Suite struct HostileMergeTests {
    private func merge(_ base: String?, _ local: String?, _ remote: String?) -> MergeResult {
        JSONMerge.merge(
            base: base.map { Data($0.utf8) }, local: local.map { Data($0.utf8) }, remote: remote.map { Data($0.utf8) },
            preferring: .local)
    }

    private func text(_ result: MergeResult) -> String? { result.data.map { String(decoding: $0, as: UTF8.self) } }

    private static let notJSON: [Data] = [
        Data(), Data([0]), Data([0xFF, 0xFE]), Data("{\"a\":1}".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }),
        Data([0xEF, 0xBB, 0xBF]) + Data("{\"a\":1}".utf8), Data("{\"a\":\"".utf8) + [0xC0, 0x80] + Data("\"}".utf8),
        Data("{\"a\":\"\0\"}".utf8), Data("{\"a\":1,}".utf8), Data("{'a':1}".utf8), Data("{\"a\":1} x".utf8),
        Data("{\"a\":01}".utf8), Data("{\"a\":NaN}".utf8), Data("{\"a\"}".utf8), Data("[1".utf8), Data("\u{301}".utf8),
        Data("{\"a\":\"\\x\"}".utf8), Data("{\"a\":tru}".utf8), Data(repeating: UInt8(ascii: "["), count: 100_000),
        Data((String(repeating: "[", count: 501) + String(repeating: "]", count: 501)).utf8),
        Data((String(repeating: #"{"a":"#, count: 600) + "1" + String(repeating: "}", count: 600)).utf8),
    ]

    @Test("Items that are not JSON are as a whole decided by the preference, and reported", arguments: notJSON)
    func opaque(item: Data) {
        let json = [Data("{\"a\":1,\"b\":1}".utf8), Data("{\"a\":2,\"b\":1}".utf8), Data("{\"a\":1,\"b\":2}".utf8)]
        for place in 0..<3 {
            var versions = json
            versions[place] = item
            let (base, local, remote) = (versions[0], versions[1], versions[2])
            #expect(
                JSONMerge.merge(base: base, local: local, remote: remote, preferring: .local)
                    == MergeResult(data: local, losses: [MergeLoss(path: "$", lost: remote, side: .remote)]))
            #expect(
                JSONMerge.merge(base: base, local: local, remote: remote, preferring: .remote)
                    == MergeResult(data: remote, losses: [MergeLoss(path: "$", lost: local, side: .local)]))
        }
        #expect(
            JSONMerge.merge(base: json[0], local: item, remote: nil, preferring: .remote)
                == MergeResult(data: item, losses: [MergeLoss(path: "$", lost: nil, side: .remote)]))
        #expect(
            JSONMerge.merge(base: item, local: nil, remote: json[0], preferring: .local)
                == MergeResult(data: json[0], losses: [MergeLoss(path: "$", lost: nil, side: .local)]))
        for other in json {
            #expect(JSONMerge.merge(base: item, local: item, remote: other, preferring: .local).data == other)
            #expect(JSONMerge.merge(base: item, local: other, remote: item, preferring: .remote).data == other)
            #expect(JSONMerge.merge(base: other, local: item, remote: item, preferring: .remote).data == item)
            #expect(JSONMerge.preserving(item, known: other, stored: json[1]) == (item == other ? json[1] : item))
            #expect(JSONMerge.preserving(other, known: other, stored: item) == item)
        }
        let spaced = Data("{ \"a\":1, \"b\":1}".utf8)
        #expect(JSONMerge.merge(base: json[0], local: item, remote: spaced, preferring: .remote) == .init(data: item))
        #expect(JSONMerge.merge(base: json[0], local: spaced, remote: item, preferring: .local) == .init(data: item))
        #expect(JSONMerge.merge(base: item, local: json[0], remote: spaced, preferring: .local) == .init(data: spaced))
    }

    @Test("Any names and texts are merged, two spellings as two of them")
    func texts() throws {
        // Foundation's encoder writes the expected values, one by one.
        func json(_ text: String) throws -> String {
            String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
        }
        let names = try HostileTexts.all.map(json)
        func object(_ value: (Int) -> String) -> String {
            "{" + names.enumerated().map { "\($1):\(value($0))" }.joined(separator: ",") + "}"
        }
        let base = object { names[$0] }
        let local = object { $0.isMultiple(of: 2) ? names[($0 + 1) % names.count] : names[$0] }
        let remote = object { $0.isMultiple(of: 3) ? "[\(names[$0])]" : names[$0] }
        let result = merge(base, local, remote)
        let expected = object {
            $0.isMultiple(of: 2)
                ? names[($0 + 1) % names.count] : $0.isMultiple(of: 3) ? "[\(names[$0])]" : names[$0]
        }
        #expect(text(result) == expected)
        #expect(result.losses.map(\.lost) == names.indices.filter { $0 % 6 == 0 }.map { Data("[\(names[$0])]".utf8) })
        #expect(Set(result.losses.map { Array($0.path.utf8) }).count == result.losses.count)
    }

    @Test("Names are equal in all their escapes, and keep the remote side's")
    func escapedNames() {
        let result = merge(#"{"é":1,"b":1}"#, #"{"\u00e9":2,"b":1}"#, #"{"\u00E9":1,"b":2}"#)
        #expect(text(result) == #"{"\u00E9":2,"b":2}"#)
    }

    @Test("Lone surrogates are values and names that only their own text equals")
    func surrogates() {
        let result = merge(
            #"{"\ud800":"\udc00","b":1}"#, #"{"\ud800":"\udc01","b":1}"#, #"{"\ud800":"\udc02","b":2}"#)
        #expect(text(result) == #"{"\ud800":"\udc01","b":2}"#)
        #expect(result.losses == [MergeLoss(path: #"$['\ud800']"#, lost: Data(#""\udc02""#.utf8), side: .remote)])
    }

    @Test("An object with two members of one name is not merged inside, on any side")
    func duplicates() {
        let twice = #"{"o":{"a":1,"\u0061":1,"b":1},"c":1}"#
        let (first, second) = (#"{"o":{"a":2,"b":1},"c":1}"#, #"{"o":{"a":1,"b":2},"c":2}"#)
        #expect(text(merge(twice, first, second)) == #"{"o":{"a":2,"b":1},"c":2}"#)
        #expect(text(merge(first, twice, second)) == #"{"o":{"a":1,"\u0061":1,"b":1},"c":2}"#)
        #expect(text(merge(first, second, twice)) == second)
        #expect(merge(first, second, twice).losses.map(\.path) == ["$['o']"])
        // The same members in the same order, and in another one.
        #expect(text(merge(#"{"a":1,"a":2}"#, #"{"a":1, "a":2}"#, "{}")) == "{}")
        #expect(text(merge(#"{"a":1,"a":2}"#, #"{"a":2,"a":1}"#, "{}")) == #"{"a":2,"a":1}"#)
    }

    @Test("500 levels are merged, on the stack of any thread")
    func depth() async {
        func nested(_ inner: String, levels: Int) -> String {
            String(repeating: #"{"k":0,"n":"#, count: levels - 1) + inner + String(repeating: "}", count: levels - 1)
        }
        let texts = [#"{"a":1,"b":1}"#, #"{"a":2,"b":1}"#, #"{"a":1,"b":2}"#].map { nested($0, levels: 500) }
        let result = await withCheckedContinuation { continuation in
            // Threads of Apple platforms have 512 kB.
            let thread = Thread { continuation.resume(returning: merge(texts[0], texts[1], texts[2])) }
            thread.stackSize = 512 << 10
            thread.start()
        }
        #expect(text(result) == nested(#"{"a":2,"b":2}"#, levels: 500))
        #expect(result.losses.isEmpty)
        let conflict = merge(texts[0], texts[1], texts[2].replacing(#""a":1"#, with: #""a":3"#))
        #expect(conflict.losses.map(\.path) == ["$" + String(repeating: "['n']", count: 499) + "['a']"])
    }

    @Test(
        "Paths are those of RFC 9535",
        arguments: [
            // The examples of section 2.7 with names, and the escapes of its grammar.
            (#"a"#, "$['a']"), (#"\u000B"#, #"$['\u000b']"#), (#"\u0061"#, "$['a']"),
            (#"\b\t\n\f\r"#, #"$['\b\t\n\f\r']"#), (#"'\"\\\/"#, #"$['\'"\\/']"#),
            (#"\u0000\u001f\u007f"#, "$['\\u0000\\u001f\u{7F}']"),
            (#"\ud83d\ude00"#, "$['😀']"), ("", "$['']"),
        ])
    func paths(name: String, path: String) {
        let result = merge(#"{"\#(name)":1}"#, #"{"\#(name)":2}"#, #"{"\#(name)":3}"#)
        #expect(result.losses == [MergeLoss(path: path, lost: Data("3".utf8), side: .remote)])
    }
}
