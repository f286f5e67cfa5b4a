import Foundation

/// A seed document and its type.
struct Subject {
    let json: Data
    let target: Target
    /// Whether the document is only decoded as its own type.
    ///
    /// In deep documents, Foundation takes seconds to try one type after another, because each error has a path.
    let isAlone: Bool

    init<Value: Codable>(_ type: Value.Type, _ json: String, isAlone: Bool = false) {
        self.json = Data(json.utf8)
        self.isAlone = isAlone
        target = Target(type)
    }
}

/// Documents of all kinds, each valid.
enum Corpus {
    private static let ten = #"""
        {"id":"E621E1F8-C36C-495A-93FC-0C247A3E6E5F","name":"A \"name\" with é, 漢字\n and \ud83d\ude00","count":9007199254740993,"ratio":0.1,"isOn":true,"when":694224000.123456,"link":"https:\/\/example.com\/a?b=c#d","tags":["a","","text that is longer than a small string"],"scores":{"a":1,"b":-2.5e-3,"é":0},"inner":{"x":-128,"y":1.5,"é":null}}
        """#

    static func subjects() -> [Subject] {
        [
            Subject(Ten.self, ten),
            Subject(
                Ten.self, ten.replacingOccurrences(of: ",", with: " ,\n\t").replacingOccurrences(of: ":", with: " : ")),
            Subject([Ten].self, "[\(ten),\(ten)]"),
            Subject(
                Tree.self,
                #"{"value":1,"children":[{"value":null},{"children":[],"value":-0},{"named":{"a":{"value":2},"":{}}}],"named":{}}"#
            ),
            Subject(
                Tree.self, String(repeating: #"{"children":["#, count: 20) + "{}" + String(repeating: "]}", count: 20)
            ),
            Subject(
                Tree.self,
                String(repeating: #"{"children":["#, count: 255) + "{}" + String(repeating: "]}", count: 255),
                isAlone: true
            ),
            Subject(
                Empty.self, #"{"a":"# + String(repeating: "[", count: 511) + String(repeating: "]", count: 511) + "}",
                isAlone: true
            ),
            Subject(JSONValue.self, #"[null,true,false,0,-1.5,1e2,"",[[]],{},{"a":{"b":[1,2,{"c":"d"}]}}]"#),
            Subject(JSONValue.self, String(repeating: "[", count: 40) + "1" + String(repeating: "]", count: 40)),
            Subject(
                [Double].self,
                "[0,-0,0.0,-0.0,1e2,1E+2,10e-1,0.1,1e22,1e23,4.9e-324,1.7976931348623157e308,123456789012345678]"),
            Subject([Double].self, "[694224000.123456,3.14159,2.5,1e-7,9007199254740993.0,100,99.99,-123.456]"),
            Subject(
                [Int].self,
                "[0,-0,1,-1,1.0,1e2,10,9007199254740993,9223372036854775807,-9223372036854775808,100e-2,12345678,0.0]"),
            Subject([UInt8].self, "[0,1,255,128,1e2,2.55e2,0.0]"),
            Subject([Float?].self, "[null,0.1,16777217,3.4028235e38,1.4e-45,-0.0]"),
            Subject([String: [Int]?].self, #"{"a":[1,2],"b":null,"c":[],"\u0064":[3],"é":[4],"e\u0301":null,"a":[5]}"#),
            Subject([Letter: Bool].self, #"{"a":true,"quite a long name":false,"\u00e9":true}"#),
            Subject(String.self, #""plain text, é 漢字 😀 \" \\ \/ \b\f\n\r\t \u0041\u00e9\u6f22\ud83d\ude00""#),
            Subject(
                [String].self,
                #"["","a","seven b","eight by","nine byte","fifteen bytes..","sixteen bytes...","\u0000\u001f","é","\n"]"#
            ),
            Subject(
                [String: String].self,
                #"{"a":"b","c\"d":"e\\f","K":"\u212a","":"","long key that is not small":"long text that is not small"}"#
            ),
            Subject(
                [Decimal].self,
                "[0,1.10,-0.001,12345678901234567890123456789012345678,1e127,1e-128,3.14159265358979323846]"),
            Subject(
                [URL].self, #"["https://example.com","http://[::1]:80/","a/b?c#d","file:///tmp/ü","mailto:a@b.c"]"#),
            Subject(
                [UUID].self,
                #"["E621E1F8-C36C-495A-93FC-0C247A3E6E5F","00000000-0000-0000-0000-000000000000","ffffffff-ffff-ffff-ffff-ffffffffffff"]"#
            ),
            Subject([Date?].self, "[0,-0.5,694224000.123456,1e9,null]"),
            Subject([Data].self, #"["","AA==","AAE=","AAEC","\/+8=","QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo="]"#),
            Subject(
                Shape.self,
                #"{"group":{"_0":[{"point":{}},{"circle":{"radius":1.5}},{"line":{"_0":1,"_1":-2}}],"name":"n"}}"#),
            Subject(Lenient.self, #"[1,"two",3.5,null,[4,5.5],{"x":6},true,-1e2,[],{},{"é":"x"}]"#),
            Subject(Int.self, "12345"),
            Subject(Bool?.self, " null "),
        ]
    }
}
