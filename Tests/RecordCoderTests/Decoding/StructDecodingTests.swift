import Foundation
import Testing

@Suite struct StructDecodingTests {

    struct Inner: Decodable {
        var x: Int
        var y: Double?
    }

    struct Outer: Decodable {
        var name: String
        var count: Int
        var ratio: Double
        var isOn: Bool
        var maybe: String?
        var inner: Inner
        var list: [Inner]
        var map: [String: Int]
    }

    @Test(
        "Members are found in any order, and others are ignored",
        arguments: [
            #"{"name":"n","count":1,"ratio":0.5,"isOn":true,"maybe":"m","inner":{"x":1,"y":2},"list":[{"x":3}],"map":{"a":1}}"#,
            #"{"map":{"a":1},"list":[{"y":null,"x":3}],"inner":{"y":2,"x":1},"maybe":"m","isOn":true,"ratio":0.5,"count":1,"name":"n"}"#,
            #"{"zero":[[{"name":"other"}]],"name":"n","count":1,"one":{"count":7},"ratio":1,"isOn":false,"inner":{"x":1,"z":[{}]},"list":[],"map":{},"last":"}"}"#,
            " \n{ \"name\" :\t\"n\" ,\r\n\"count\": 1 , \"ratio\" : 0.5, \"isOn\":true ,\"inner\" : { \"x\":1 } , \"list\" : [ ] , \"map\" : { } } \n",
            #"{"name":"n","inner":{"x":1},"count":1,"list":[{"x":1},{"x":2},{"x":3,"y":1},{"y":0,"x":4}],"ratio":0.5,"map":{"a":1,"b":2},"isOn":true,"maybe":null}"#,
        ])
    func order(json: String) {
        #expect(expectSameAsFoundation(Outer.self, json) != nil)
        expectSameAsFoundation([Outer].self, "[\(json),\(json),\(json)]")
    }

    @Test(
        "Members that are missing, null or of another type are reported as Foundation reports them",
        arguments: [
            "{}", "[]", "null", "1", #""text""#,
            #"{"name":"n"}"#,
            #"{"name":null,"count":1,"ratio":0.5,"isOn":true,"inner":{"x":1},"list":[],"map":{}}"#,
            #"{"name":"n","count":"1","ratio":0.5,"isOn":true,"inner":{"x":1},"list":[],"map":{}}"#,
            #"{"name":"n","count":1,"ratio":"0.5","isOn":true,"inner":{"x":1},"list":[],"map":{}}"#,
            #"{"name":"n","count":1,"ratio":0.5,"isOn":1,"inner":{"x":1},"list":[],"map":{}}"#,
            #"{"name":"n","count":1,"ratio":0.5,"isOn":true,"inner":[],"list":[],"map":{}}"#,
            #"{"name":"n","count":1,"ratio":0.5,"isOn":true,"inner":{"x":1},"list":{},"map":{}}"#,
            #"{"name":"n","count":1,"ratio":0.5,"isOn":true,"inner":{"x":1},"list":[{"x":1},{"x":[]}],"map":{}}"#,
            #"{"name":"n","count":1,"ratio":0.5,"isOn":true,"inner":{"x":1},"list":[null],"map":{}}"#,
            #"{"name":"n","count":1,"ratio":0.5,"isOn":true,"inner":{"x":1},"list":[],"map":[]}"#,
            #"{"name":"n","count":1,"ratio":0.5,"isOn":true,"inner":{"x":1},"list":[],"map":{"a":"b"}}"#,
            #"{"name":"n","count":1,"ratio":0.5,"isOn":true,"inner":{"x":1},"list":[],"map":{"a":null}}"#,
            #"{"name":"n","count":1,"ratio":0.5,"isOn":true,"inner":{"x":1.5},"list":[],"map":{}}"#,
            #"{"name":"n","count":1,"ratio":0.5,"isOn":true,"inner":{"x":1,"y":true},"list":[],"map":{}}"#,
            #"{"name":"n","count":1,"ratio":0.5,"isOn":true,"maybe":5,"inner":{"x":1},"list":[],"map":{}}"#,
        ])
    func errors(json: String) {
        #expect(expectSameAsFoundation(Outer.self, json) == nil)
    }

    struct Optionals: Decodable {
        var plain: Int?
        var twice: Int??
        var list: [Int?]?
        var map: [String: Int?]?
        var inner: Inner?
        var text: String?
    }

    @Test(
        "Optional members can be missing or null, in containers too",
        arguments: [
            "{}",
            #"{"plain":null,"twice":null,"list":null,"map":null,"inner":null,"text":null}"#,
            #"{"plain":1,"twice":2,"list":[1,null,2,null],"map":{"a":null,"b":1},"inner":{"x":1},"text":""}"#,
            #"{"list":[],"map":{}}"#,
            #"{"list":[null],"map":{"a":null}}"#,
        ])
    func optionals(json: String) {
        #expect(expectSameAsFoundation(Optionals.self, json) != nil)
    }

    @Test("Optionals at the top", arguments: ["null", " null ", "1", "[null,1]", "[]", "{}", "nul", "nulll"])
    func optionalsAtTheTop(json: String) {
        expectSameAsFoundation(Int?.self, json)
        expectSameAsFoundation(Int??.self, json)
        expectSameAsFoundation([Int?].self, json)
        expectSameAsFoundation([Int?]?.self, json)
        expectSameAsFoundation(Inner?.self, json)
        expectSameAsFoundation([String: Int?].self, json)
    }

    struct Tree: Decodable {
        var value: Int
        var children: [Tree]?
    }

    @Test("Types that contain themselves")
    func recursion() {
        let json = #"{"value":1,"children":[{"value":2},{"children":[{"value":3,"children":[]}],"value":4}]}"#
        #expect(expectSameAsFoundation(Tree.self, json) != nil)
        expectSameAsFoundation(
            Tree.self, #"{"value":1,"children":[{"value":2},{"children":[{"children":[]}],"value":4}]}"#)
    }

    struct Empty: Decodable {}

    @Test("A type without members accepts any object", arguments: ["{}", #"{"a":1}"#, "[]", "1", "null", "{", "{]"])
    func empty(json: String) {
        expectSameAsFoundation(Empty.self, json)
        expectSameAsFoundation([Empty].self, "[\(json)]")
    }

    struct Wide: Decodable {
        var a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p: Int
    }

    @Test("Sixteen members in every rotation, once backwards")
    func rotations() {
        let members = "abcdefghijklmnop".enumerated().map { "\"\($1)\":\($0)" }
        for start in members.indices {
            let rotated = members[start...] + members[..<start]
            #expect(expectSameAsFoundation(Wide.self, "{\(rotated.joined(separator: ","))}") != nil)
        }
        #expect(expectSameAsFoundation(Wide.self, "{\(members.reversed().joined(separator: ","))}") != nil)
        for missing in members.indices {
            var fewer = members
            fewer.remove(at: missing)
            #expect(expectSameAsFoundation(Wide.self, "{\(fewer.joined(separator: ","))}") == nil)
        }
    }
}
