import Foundation
import Testing

@Suite struct FoundationTypeDecodingTests {

    /// Compares the results for a value alone, in containers and as a member.
    private func expectSame<Value: Decodable>(
        _ type: Value.Type, _ json: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expectSameAsFoundation(type, json, sourceLocation: sourceLocation)
        expectSameAsFoundation(Value?.self, json, sourceLocation: sourceLocation)
        expectSameAsFoundation([Value].self, "[\(json),\(json)]", sourceLocation: sourceLocation)
        expectSameAsFoundation([String: Value?].self, "{\"k\":\(json)}", sourceLocation: sourceLocation)
        expectSameAsFoundation(Wrapper<Value>.self, "{\"value\":\(json)}", sourceLocation: sourceLocation)
        expectSameAsFoundation(Single<Value>.self, json, sourceLocation: sourceLocation)
    }

    struct Wrapper<Value: Decodable>: Decodable {
        var value: Value
        var missing: Value?
    }

    struct Single<Value: Decodable>: Decodable {
        var value: Value
        init(from decoder: any Decoder) throws {
            value = try decoder.singleValueContainer().decode(Value.self)
        }
    }

    @Test(
        "UUIDs",
        arguments: [
            #""E621E1F8-C36C-495A-93FC-0C247A3E6E5F""#, #""e621e1f8-c36c-495a-93fc-0c247a3e6e5f""#,
            #""E621e1F8-c36C-495a-93Fc-0c247A3E6E5F""#, #""00000000-0000-0000-0000-000000000000""#,
            #""FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF""#,
            #""E621E1F8C36C495A93FC0C247A3E6E5F""#, #""{E621E1F8-C36C-495A-93FC-0C247A3E6E5F}""#,
            #""E621E1F8-C36C-495A-93FC-0C247A3E6E5""#, #""E621E1F8-C36C-495A-93FC-0C247A3E6E5FF""#,
            #""G621E1F8-C36C-495A-93FC-0C247A3E6E5F""#, #"" E621E1F8-C36C-495A-93FC-0C247A3E6E5F""#,
            #""E621E1F8-C36C-495A-93FC-0C247A3E6E5F ""#, #""E621E1F8-C36C-495A-93FC_0C247A3E6E5F""#,
            #""E621E1F8--C36C-495A-93FC0C247A3E6E5F""#, #""""#, #""\u0045621E1F8-C36C-495A-93FC-0C247A3E6E5F""#,
            "\"É21E1F8-C36C-495A-93FC-0C247A3E6E5F\"", "1", "null", "[]",
            #""E621E1F8-C36C-495A-93FC-0C247A3E6E5F\u0000""#,
            #""E621E1F8C-36C-495A-93FC-0C247A3E6E5F""#, #""+621E1F8-C36C-495A-93FC-0C247A3E6E5F""#,
            #""0x21E1F8-C36C-495A-93FC-0C247A3E6E5F""#, "\"E621E1F8-C36C-495A-93FC-0C247A3E6E5\u{FF26}\"",
            #""E621E1F8-C36C-495A-93FC-0C247A3E6E5@""#, #""E621E1F8-C36C-495A-93FC-0C247A3E6E5`""#,
            #""E621E1F8-C36C-495A-93FC-0C247A3E6E5:""#, #""E621E1F8-C36C-495A-93FC-0C247A3E6E5/""#,
        ])
    func uuids(json: String) {
        expectSame(UUID.self, json)
    }

    @Test(
        "URLs",
        arguments: [
            #""https://example.com/a/b?c=d#e""#, #""https:\/\/example.com\/a""#, #""""#, #"" ""#, #""a""#, #""a b""#,
            #""/path/to a file""#, #""file:///tmp/x""#, #""mailto:a@b.c""#, #""http://exämple.com/ü""#,
            #""http://例え.jp/漢字?q=あ""#, #""http://[::1]:80/""#, #""http://[bad""#, #""http://a:b:c""#,
            #""://""#, #""%""#, #""%zz""#, #""http://a.b/%20%C3""#, #""\u0000""#, #""http://a.b/\n""#, #""😀""#,
            #""?q""#, ##""#f""##, #""..""#, #""//host/path""#, "1", "null", "[]", "{}", #"{"relative":"a"}"#,
            #"{"relative":"a","base":"http://b.c/"}"#, #""http://user:pass@host:99999/""#, #""HTTP://A.B""#,
            #""http://a.b/\ud800""#,
            #""http://a.b:""#, #""http:""#, #""<>""#, #""a\\b""#, #""a|b""#, #""a^b`{}""#,
        ])
    func urls(json: String) {
        expectSame(URL.self, json)
    }

    @Test(
        "Data in Base64",
        arguments: [
            #""""#, #""AA==""#, #""AAE=""#, #""AAEC""#, #""/+8=""#, #""\/+8=""#, #""AA""#, #""AA=""#, #""A""#,
            #""A===""#, #""====""#, #""AA==AA==""#, #""AAEC=""#, #""-_8=""#, #""AA\n==""#, #"" AA==""#, #""AA== ""#,
            #""AA==\n""#, #""A A==""#, #""ÄA==""#, #""AB==""#, #""AAF=""#, #""\u0041A==""#, #""!!!!""#,
            #""AA==\u0000""#,
            "[1,2,3]", "[256]", "null", "1", "[]",
            #""QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVowMTIzNDU2Nzg5YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo=""#,
            #""AAEC\r\nAAEC""#, #""=""#, #""A=AA""#,
        ])
    func data(json: String) {
        expectSame(Data.self, json)
    }

    @Test(
        "Dates",
        arguments: [
            "0", "-0", "-0.0", "1", "1.5", "694224000", "694224000.123456", "-978307200", "1e9", "1e308", "1e400",
            "0.1", "9007199254740993", #""2024-01-01T00:00:00Z""#, "null", "true", "[]", "{}", "01", "1.",
        ])
    func dates(json: String) {
        expectSame(Date.self, json)
    }

    @Test(
        "Decimals",
        arguments: [
            "0", "-0", "1", "-1", "0.1", "0.30", "1.10", "123.456", "1e2", "1E-2", "1.5e3",
            "12345678901234567890123456789012345678", "123456789012345678901234567890123456789",
            "0.12345678901234567890123456789012345678", "0.123456789012345678901234567890123456789",
            "99999999999999999999999999999999999999999", "1e127", "1e128", "1e165", "1e166", "1e-127", "1e-128",
            "1e-129", "1e400", "-1e400", "1e-400", "3.14159265358979323846264338327950288419716939937510",
            "9007199254740993", "18446744073709551616", "340282366920938463463374607431768211455",
            "340282366920938463463374607431768211456",
            "1.", "01", #""1""#, #""NaN""#, "null", "true", "[]", "{}", "0e10", "0.0",
            "1.000000000000000000000000000000000000000000", "10000000000000000000000000000000000000000000000.5",
            "0.1e-127", "-0.0", "1e99999999999",
        ])
    func decimals(json: String) {
        expectSame(Decimal.self, json)
    }

    @Test("Other types of Foundation, which decode themselves")
    func others() throws {
        func expectSame<Value: Codable>(_ value: Value) throws {
            let json = String(decoding: try JSONEncoder().encode([value]), as: UTF8.self)
            #expect(expectSameAsFoundation([Value].self, json) != nil)
            expectSameAsFoundation([Value].self, json.replacingOccurrences(of: "1", with: "\"x\""))
            expectSameAsFoundation([Value].self, "[null]")
            expectSameAsFoundation([Value].self, "[{}]")
        }
        try expectSame(DateComponents(year: 2024, month: 1, day: 31))
        try expectSame(DateInterval(start: Date(timeIntervalSinceReferenceDate: 1), duration: 10))
        try expectSame(IndexSet([1, 2, 3, 10]))
        try expectSame(IndexPath(indexes: [1, 2]))
        try expectSame(Locale(identifier: "de_DE"))
        try expectSame(CharacterSet(charactersIn: "1ab"))
        try expectSame(Measurement(value: 1.5, unit: UnitLength.meters))
        try expectSame(PersonNameComponents(givenName: "A1", familyName: "B"))
        try expectSame(URLComponents(string: "http://a.b/1?c=d"))
        try expectSame(Duration.milliseconds(1_500))
    }

    @Test("Several values of Foundation's types inside a type")
    func together() {
        struct Together: Decodable {
            var id: UUID
            var link: URL
            var data: Data
            var date: Date
            var price: Decimal
            var ids: [UUID]
            var dates: [String: Date]
            var links: Set<URL>
        }
        let json =
            #"{"id":"E621E1F8-C36C-495A-93FC-0C247A3E6E5F","link":"http://a.b/ü","data":"AAEC","date":1.5,"price":9.99,"ids":["E621E1F8-C36C-495A-93FC-0C247A3E6E5F"],"dates":{"x":0},"links":["a","b","a"]}"#
        #expect(expectSameAsFoundation(Together.self, json) != nil)
        for (right, wrong) in [
            ("0C247A", "0C247"), ("http://a.b/ü", ""), ("AAEC", "AAE"), ("1.5", #""1.5""#), ("9.99", "[]"),
            (#""a","b""#, #""a","""#),
        ] {
            expectSameAsFoundation(Together.self, json.replacingOccurrences(of: right, with: wrong))
        }
    }
}
