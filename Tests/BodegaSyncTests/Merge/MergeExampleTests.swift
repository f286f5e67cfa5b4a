import BodegaSync
import Foundation
import Testing

/// Merges with results that are written by hand, byte for byte.
@Suite struct MergeExampleTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let base, local, remote: String?
        /// With a preference for the local side, and for the remote one.
        let results: [String?]
        /// The losses as side, path and text, in the same two cases.
        let losses: [[String]]

        init(
            _ name: String, _ base: String?, _ local: String?, _ remote: String?, _ results: String?...,
            losses: [String]...
        ) {
            (testDescription, self.base, self.local, self.remote) = (name, base, local, remote)
            self.results = results.count == 1 ? results + results : results
            self.losses = losses.count == 1 ? losses + losses : losses.isEmpty ? [[], []] : losses
        }
    }

    @Test("A merge has the expected text and losses", arguments: examples)
    func merge(example: Example) {
        for (index, preference) in [MergePreference.local, .remote].enumerated() {
            let result = JSONMerge.merge(
                base: example.base.map { Data($0.utf8) }, local: example.local.map { Data($0.utf8) },
                remote: example.remote.map { Data($0.utf8) }, preferring: preference)
            #expect(result.data.map { String(decoding: $0, as: UTF8.self) } == example.results[index])
            let losses = result.losses.map { loss in
                "\(loss.side) \(loss.path) \(loss.lost.map { String(decoding: $0, as: UTF8.self) } ?? "removed")"
            }
            #expect(losses == example.losses[index])
        }
    }

    static let examples = [
        Example("two properties", #"{"a":1,"b":1}"#, #"{"a":2,"b":1}"#, #"{"a":1,"b":2}"#, #"{"a":2,"b":2}"#),
        Example(
            "one property", #"{"a":1,"b":1}"#, #"{"a":2,"b":1}"#, #"{"a":3,"b":2}"#, #"{"a":2,"b":2}"#,
            #"{"a":3,"b":2}"#,
            losses: ["remote $['a'] 3"], ["local $['a'] 2"]),
        Example(
            "nested", #"{"o":{"p":{"a":1,"b":1}}}"#, #"{"o":{"p":{"a":2,"b":3}}}"#, #"{"o":{"p":{"b":2,"a":1}}}"#,
            #"{"o":{"p":{"b":3,"a":2}}}"#, #"{"o":{"p":{"b":2,"a":2}}}"#,
            losses: ["remote $['o']['p']['b'] 2"], ["local $['o']['p']['b'] 3"]),
        Example("the same change", #"{"a":1}"#, #"{"a":2, "b":[]}"#, #"{"b" : [],"a":2.0}"#, #"{"b" : [],"a":2.0}"#),
        Example("created twice", nil, #"{"a":1,"b":2}"#, #"{"c":3,"b":2}"#, #"{"c":3,"b":2,"a":1}"#),
        Example("all removed", #"{"a":1,"b":1}"#, #"{"a":1}"#, #"{"b":1}"#, "{}"),
        Example(
            "order", #"{"a":1,"b":1,"c":1}"#, #"{"x":1,"a":1,"b":2,"c":1,"w":1}"#, #"{"c":2,"y":1,"a":1,"b":1}"#,
            #"{"c":2,"y":1,"a":1,"b":2,"x":1,"w":1}"#),
        Example(
            "a change against a removal", #"{"a":1,"b":1}"#, #"{"a":2,"b":1}"#, #"{"b":2}"#, #"{"b":2,"a":2}"#,
            losses: ["remote $['a'] removed"]),
        Example(
            "a removal against a change", #"{"a":{"b":1,"c":1},"d":1}"#, #"{"d":2}"#, #"{"a":{"b":2,"c":1},"d":1}"#,
            #"{"a":{"b":2,"c":1},"d":2}"#, losses: ["local $['a'] removed"]),
        Example("removed item", #"{"a":1}"#, nil, #"{ "a":2 }"#, #"{ "a":2 }"#, losses: ["local $ removed"]),
        Example("item removed remotely", #"{"a":1}"#, #"{"a":2} "#, nil, #"{"a":2} "#, losses: ["remote $ removed"]),
        Example("removed on both sides", #"{"a":1}"#, nil, nil, nil as String?),
        Example("removed and reformatted", #"{"a":1}"#, nil, #"{ "\u0061" : 1e0 }"#, nil as String?),
        Example(
            "reformatted and removed", #"{"a":[1,{"b":"\u00e9"}]}"#, #"{"a":[1.0,{"b":"é"}]}"#, nil, nil as String?),
        Example(
            "texts of values",
            #"{"id":1,"x":{"n":1},"y":1}"#, #"{"id":1,"x":{ "n" : 18446744073709551617 },"y":1}"#,
            #"{"id":1.0,"x":{"n":1},"y":[1.10, "\u00E9\/", -0]}"#,
            #"{"id":1.0,"x":{ "n" : 18446744073709551617 },"y":[1.10, "\u00E9\/", -0]}"#),
        Example(
            "numbers that differ beyond the precision of Double", #"{"n":9007199254740992,"a":0}"#,
            #"{"n":9007199254740993,"a":0}"#, #"{"n":9007199254740992,"a":1}"#, #"{"n":9007199254740993,"a":1}"#),
        Example("negative zero", #"{"n":0,"a":0}"#, #"{"n":-0.0,"a":0}"#, #"{"n":0.0,"a":1}"#, #"{"n":-0.0,"a":1}"#),
        Example(
            "exponents without end", #"{"n":1e99999999999999999999,"a":0}"#, #"{"n":1e99999999999999999998,"a":0}"#,
            #"{"n":1e99999999999999999999,"a":1}"#, #"{"n":1e99999999999999999998,"a":1}"#),
        Example(
            "arrays", #"{"a":[1,2],"b":1}"#, #"{"a":[1,2,3],"b":2}"#, #"{"a":[0,1,2],"b":1}"#, #"{"a":[1,2,3],"b":2}"#,
            #"{"a":[0,1,2],"b":2}"#, losses: ["remote $['a'] [0,1,2]"], ["local $['a'] [1,2,3]"]),
        Example(
            "kinds of values", #"{"a":1,"b":1}"#, #"{"a":{"x":1},"b":1}"#, #"{"a":[ ],"b":1}"#, #"{"a":{"x":1},"b":1}"#,
            #"{"a":[ ],"b":1}"#, losses: ["remote $['a'] [ ]"], [#"local $['a'] {"x":1}"#]),
        Example(
            "null is a value", #"{"a":1,"b":1}"#, #"{"a":null,"b":1}"#, #"{"b":2}"#, #"{"b":2,"a":null}"#,
            losses: ["remote $['a'] removed"]),
        Example(
            "objects where there was another value", #"{"a":null,"b":1}"#, #"{"a":{"x":1,"z":1},"b":1}"#,
            #"{"a":{"y":1,"z":1},"b":1}"#, #"{"a":{"y":1,"z":1,"x":1},"b":1}"#),
        Example(
            "cases of an enumeration", #"{"k":{"none":{}},"b":1}"#, #"{"k":{"named":{"_0":"x"}},"b":1}"#,
            #"{"k":{"pair":{}},"b":2}"#, #"{"k":{"named":{"_0":"x"}},"b":2}"#, #"{"k":{"pair":{}},"b":2}"#,
            losses: [#"remote $['k'] {"pair":{}}"#], [#"local $['k'] {"named":{"_0":"x"}}"#]),
        Example(
            "one case of an enumeration", #"{"pair":{"_0":1,"_1":1}}"#, #"{"pair":{"_0":2,"_1":1}}"#,
            #"{"pair":{"_0":1,"_1":2}}"#, #"{"pair":{"_0":2,"_1":2}}"#),
        Example("a dictionary without keys", "{}", #"{"a":1}"#, #"{"b":1}"#, #"{"b":1,"a":1}"#),
        Example(
            "scalars", "1", " 2 ", "3", " 2 ", "3", losses: ["remote $ 3"], ["local $ 2"]),
    ]
}
