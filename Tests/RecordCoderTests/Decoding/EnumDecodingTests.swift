import Foundation
import Testing

@Suite struct EnumDecodingTests {

    indirect enum Shape: Decodable {
        case point
        case circle(radius: Double)
        case rectangle(Double, Double)
        case labeled(String?, shape: Shape)
        case group([Shape])
    }

    @Test(
        "Enums with associated values",
        arguments: [
            #"{"point":{}}"#, #"{"circle":{"radius":1.5}}"#, #"{"rectangle":{"_0":1,"_1":2}}"#,
            #"{"rectangle":{"_1":1,"_0":2}}"#, #"{"labeled":{"_0":"x","shape":{"point":{}}}}"#,
            #"{"labeled":{"shape":{"group":{"_0":[]}}}}"#,
            #"{"group":{"_0":[{"point":{}},{"circle":{"radius":0}}]}}"#, "{}", #"{"point":{},"circle":{"radius":1}}"#,
            #"{"square":{}}"#, #"{"point":null}"#, #"{"point":1}"#, #"{"circle":{}}"#, #"{"circle":{"radius":"x"}}"#,
            #""point""#, "[]", "null", #"{"group":{"_0":[{"point":{}},{"oval":{}}]}}"#,
            #"{"point":{},"other":{}}"#, #"{"other":{},"point":{}}"#, #"{"point":{},"point":{}}"#,
            #"{"\u0070oint":{}}"#,
        ])
    func associatedValues(json: String) {
        expectSameAsFoundation(Shape.self, json)
        expectSameAsFoundation([Shape].self, "[\(json),\(json)]")
        expectSameAsFoundation(Shape?.self, json)
    }

    enum Word: String, Decodable { case one, two, grüße, empty = "" }
    enum Number: Int, Decodable { case one = 1, minus = -1, big = 9_007_199_254_740_993 }
    enum Fraction: Double, Decodable { case half = 0.5, zero = 0 }
    enum Small: UInt8, Decodable { case last = 255 }

    struct Wrapper: RawRepresentable, Decodable {
        var rawValue: [Int]
        init?(rawValue: [Int]) {
            if rawValue.isEmpty { return nil }
            self.rawValue = rawValue
        }
    }

    struct Options: OptionSet, Decodable {
        var rawValue: Int
    }

    @Test(
        "Types with a raw value",
        arguments: [
            #""one""#, #""two""#, #""gr\u00fc\u00dfe""#, #""grüße""#, #""""#, #""three""#, "1", "-1", "2", "1.0", "1e0",
            "9007199254740993", "9007199254740992", "0.5", "5e-1", "-0", "0.25", "255", "256", "[]", "[1]", "null",
            "true", "{}", "\"gru\u{308}ße\"",
        ])
    func rawValues(json: String) {
        expectSameAsFoundation(Word.self, json)
        expectSameAsFoundation(Number.self, json)
        expectSameAsFoundation(Fraction.self, json)
        expectSameAsFoundation(Small.self, json)
        expectSameAsFoundation(Wrapper.self, json)
        expectSameAsFoundation(Options.self, json)
        expectSameAsFoundation([Word].self, "[\(json)]")
        expectSameAsFoundation([String: Number?].self, "{\"a\":\(json)}")
        expectSameAsFoundation(Wrapper?.self, json)
    }
}
