import BodegaSync
import Foundation
import Testing

/// What a program does not know stays, with results that are written by hand.
@Suite struct PreservingTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let stored, known, new, result: String

        init(_ name: String, stored: String, known: String, new: String, _ result: String) {
            (testDescription, self.stored, self.known, self.new, self.result) = (name, stored, known, new, result)
        }
    }

    @Test("What is written has everything that the program does not know", arguments: examples)
    func preserving(example: Example) {
        let result = JSONMerge.preserving(
            Data(example.new.utf8), known: Data(example.known.utf8), stored: Data(example.stored.utf8))
        #expect(String(decoding: result, as: UTF8.self) == example.result)
    }

    @Test("An item that has not changed stays byte for byte", arguments: examples)
    func unchanged(example: Example) {
        let respelled = "\n" + example.known.replacing(":", with: " : ")
        for new in [example.known, respelled] {
            let result = JSONMerge.preserving(
                Data(new.utf8), known: Data(example.known.utf8), stored: Data(example.stored.utf8))
            #expect(result == Data(example.stored.utf8))
        }
    }

    static let examples = members + elements + reordered

    private static let members = [
        Example(
            "members", stored: #"{"z":1.0,"id":1,"t":"a","o":{"x":[1, 2],"n":1}}"#,
            known: #"{"id":1,"o":{"n":1},"t":"a"}"#,
            new: #"{"id":1,"o":{"n":2},"t":"b"}"#, #"{"z":1.0,"id":1,"t":"b","o":{"x":[1, 2],"n":2}}"#),
        Example("nothing unknown", stored: #"{"a":1}"#, known: #"{"a": 1}"#, new: #"{"a": 2}"#, #"{"a": 2}"#),
        Example(
            "a removed property with unknown members", stored: #"{"a":{"x":1,"u":2},"b":{"y":1},"v":1}"#,
            known: #"{"a":{"x":1},"b":{}}"#, new: #"{"b":{}}"#, #"{"b":{"y":1},"v":1}"#),
        Example(
            "a property that was nil", stored: #"{"id":1,"u":1}"#, known: #"{"id":1}"#, new: #"{"id":1,"a":{"x":1}}"#,
            #"{"id":1,"u":1,"a":{"x":1}}"#),
        Example(
            "null that is not encoded", stored: #"{"id":1,"a":null,"u":null}"#, known: #"{"id":1}"#,
            new: #"{"id":1,"a":2}"#, #"{"id":1,"a":2,"u":null}"#),
        Example(
            "a default that is not stored", stored: #"{"id":1,"u":1}"#, known: #"{"id":1,"count":0,"on":true}"#,
            new: #"{"id":1,"count":5,"on":true}"#, #"{"id":1,"u":1,"count":5}"#),
        Example(
            "one default, one unknown member", stored: #"{"s":{"theme":"dark"}}"#, known: #"{"s":{"volume":5}}"#,
            new: #"{"s":{"volume":7}}"#, #"{"s":{"theme":"dark","volume":7}}"#),
        Example(
            "dates in another format", stored: #"{"at":"2001-01-01T00:00:00Z","by":"2001-01-01T00:00:01Z","u":1}"#,
            known: #"{"at":0,"by":1}"#, new: #"{"at":0,"by":2}"#, #"{"at":"2001-01-01T00:00:00Z","by":2,"u":1}"#),
        Example(
            "a renamed property", stored: #"{"old":"x","id":1}"#, known: #"{"new":"x","id":1}"#,
            new: #"{"new":"x","id":2}"#, #"{"old":"x","id":2}"#),
        Example(
            "a case with an unknown payload", stored: #"{"k":{"a":{"_0":1,"u":2}},"u":1}"#,
            known: #"{"k":{"a":{"_0":1}}}"#,
            new: #"{"k":{"a":{"_0":3}}}"#, #"{"k":{"a":{"_0":3,"u":2}},"u":1}"#),
        Example(
            "another case", stored: #"{"k":{"a":{"_0":1,"u":2}},"u":1}"#, known: #"{"k":{"a":{"_0":1}}}"#,
            new: #"{"k":{"b":{}}}"#, #"{"k":{"b":{}},"u":1}"#),
        Example(
            "another case than an unknown one", stored: #"{"k":{"later":{}},"u":1}"#, known: #"{"k":{"other":{}}}"#,
            new: #"{"k":{"b":{}}}"#, #"{"k":{"b":{}},"u":1}"#),
    ]

    private static let elements = [
        Example(
            "edited in place", stored: #"[{"t":"a","u":1},{"t":"b","u":2},{"t":"c","u":3}]"#,
            known: #"[{"t":"a"},{"t":"b"},{"t":"c"}]"#, new: #"[{"t":"a"},{"t":"x"},{"t":"c"}]"#,
            #"[{"t":"a","u":1},{"t":"x","u":2},{"t":"c","u":3}]"#),
        Example(
            "removed in the middle", stored: #"[{"t":"a","u":1},{"t":"b","u":2},{"t":"c","u":3}]"#,
            known: #"[{"t":"a"},{"t":"b"},{"t":"c"}]"#, new: #"[{"t":"a"},{"t":"c"}]"#,
            #"[{"t":"a","u":1},{"t":"c","u":3}]"#),
        Example(
            "inserted and moved", stored: #"[{"t":"a","u":1},{"t":"b","u":2}]"#, known: #"[{"t":"a"},{"t":"b"}]"#,
            new: #"[{"t":"x"},{"t":"b"},{"t":"y"},{"t":"a"}]"#,
            #"[{"t":"x"},{"t":"b","u":2},{"t":"y"},{"t":"a","u":1}]"#),
        Example(
            "removed beside an edited one with an identifier",
            stored: #"[{"id":1,"t":"a","u":1},{"id":2,"t":"b","u":2},{"id":3,"t":"c","u":3}]"#,
            known: #"[{"id":1,"t":"a"},{"id":2,"t":"b"},{"id":3,"t":"c"}]"#,
            new: #"[{"id":2,"t":"x"},{"id":3,"t":"c"}]"#,
            #"[{"id":2,"t":"x","u":2},{"id":3,"t":"c","u":3}]"#),
        Example(
            "replaced by one with another identifier", stored: #"[{"id":1,"t":"a","u":1},{"id":2,"t":"b","u":2}]"#,
            known: #"[{"id":1,"t":"a"},{"id":2,"t":"b"}]"#, new: #"[{"id":7,"t":"a"},{"id":2,"t":"b"}]"#,
            #"[{"id":7,"t":"a"},{"id":2,"t":"b","u":2}]"#),
        Example(
            "removed beside an edited one with something in common",
            stored: #"[{"t":"a","s":"p","u":1},{"t":"b","s":"q","u":2}]"#,
            known: #"[{"t":"a","s":"p"},{"t":"b","s":"q"}]"#,
            new: #"[{"t":"b","s":"x"}]"#, #"[{"t":"b","s":"x","u":2}]"#),
        Example(
            "all edited", stored: #"[{"t":"a","u":1},{"t":"b","u":2}]"#, known: #"[{"t":"a"},{"t":"b"}]"#,
            new: #"[{"t":"b2"},{"t":"a2"}]"#, #"[{"t":"b2","u":1},{"t":"a2","u":2}]"#),
        Example(
            "equal elements", stored: #"[{"t":"a","u":1},{"t":"a"},{"t":"b","u":3},{"t":"a","u":4}]"#,
            known: #"[{"t":"a"},{"t":"a"},{"t":"b"},{"t":"a"}]"#, new: #"[{"t":"a"},{"t":"a"},{"t":"c"},{"t":"a"}]"#,
            #"[{"t":"a","u":1},{"t":"a"},{"t":"c","u":3},{"t":"a","u":4}]"#),
        Example(
            "nested", stored: #"[[{"t":"a","u":1}],[{"t":"b","u":[{"t":"b"}]}]]"#, known: #"[[{"t":"a"}],[{"t":"b"}]]"#,
            new: #"[[{"t":"a"}],[{"t":"x"},{"t":"b"}]]"#,
            #"[[{"t":"a","u":1}],[{"t":"x"},{"t":"b","u":[{"t":"b"}]}]]"#),
        Example(
            "dates in another format", stored: #"["2001-01-01T00:00:00Z","2001-01-01T00:00:01Z"]"#, known: "[0,1]",
            new: "[1,2]", #"["2001-01-01T00:00:01Z",2]"#),
        Example(
            "elements that are not decoded", stored: #"[{"k":9},{"t":"a","u":1},{"k":8},{"t":"b"},{"k":7}]"#,
            known: #"[{"t":"b"}]"#, new: #"[{"t":"x"}]"#, #"[{"k":9},{"t":"a","u":1},{"k":8},{"t":"x"},{"k":7}]"#),
        Example(
            "elements with unknown members, and some that are not decoded",
            stored: #"[{"n":1,"u":1},{"k":8},{"n":2,"u":2},{"k":9}]"#, known: #"[{"n":1},{"n":2}]"#,
            new: #"[{"n":3},{"n":2}]"#, #"[{"n":3,"u":1},{"k":8},{"n":2,"u":2},{"k":9}]"#),
        Example(
            "an array that is not understood", stored: #"[{"t":"a","u":1},{"k":8}]"#, known: #"["a"]"#, new: #"["b"]"#,
            #"["b"]"#),
        Example("all removed", stored: #"[{"t":"a","u":1}]"#, known: #"[{"t":"a"}]"#, new: "[]", "[]"),
    ]

    /// Arrays whose order is not the stored one.
    private static let reordered = [
        Example(
            "a set", stored: #"["a","b","c"]"#, known: #"["c","a","b"]"#, new: #"["b","c"]"#, #"["b","c"]"#),
        Example(
            "a set of objects", stored: #"[{"n":"a","u":1},{"n":"b","u":2},{"n":"c","u":3}]"#,
            known: #"[{"n":"c"},{"n":"a"},{"n":"b"}]"#, new: #"[{"n":"b"},{"n":"d"},{"n":"c"}]"#,
            #"[{"n":"b","u":2},{"n":"d"},{"n":"c","u":3}]"#),
        Example(
            "a set of objects that differ in two members",
            stored: #"[{"x":1,"y":1,"at":"0","u":1},{"x":1,"y":2,"at":"0","u":2},{"x":2,"y":1,"at":"1","u":3}]"#,
            known: #"[{"x":2,"y":1,"at":1},{"x":1,"y":2,"at":0},{"x":1,"y":1,"at":0}]"#,
            new: #"[{"x":1,"y":1,"at":0},{"x":2,"y":1,"at":1}]"#,
            #"[{"x":1,"y":1,"at":"0","u":1},{"x":2,"y":1,"at":"1","u":3}]"#),
        Example(
            "a dictionary", stored: #"["s",{"p":1,"u":1},"m",{"p":1,"u":2},"l",{"p":1,"u":3}]"#,
            known: #"["l",{"p":1},"s",{"p":1},"m",{"p":1}]"#, new: #"["m",{"p":1},"s",{"p":5},"k",{"p":7}]"#,
            #"["m",{"p":1,"u":2},"s",{"p":5,"u":1},"k",{"p":7}]"#),
    ]
}
