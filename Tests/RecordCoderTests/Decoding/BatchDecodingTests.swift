import Foundation
import RecordCoder
import RecordCoderFuzz
import Testing

@Suite struct BatchDecodingTests {

    private func data(_ json: [String]) -> [Data] {
        json.map { Data($0.utf8) }
    }

    @Test("A batch returns each record's result in order")
    func order() throws {
        let records = (0..<1_000).map { $0 % 7 == 3 ? "[\($0)" : $0 % 11 == 5 ? "{}" : "[\($0),\($0 + 1)]" }
        let outcomes = RecordDecoder().decode([Int].self, fromEach: data(records))
        #expect(outcomes.count == records.count)
        for (number, outcome) in outcomes.enumerated() {
            let expected = Oracle().foundationsDecoding(of: [Int].self, from: Data(records[number].utf8))
            #expect(exactDescription(of: outcome) == exactDescription(of: expected))
        }
    }

    @Test("A batch may be empty or a lazy sequence")
    func sequences() throws {
        #expect(RecordDecoder().decode(Int.self, fromEach: []).isEmpty)
        let lazily = (0..<5).lazy.map { Data("\($0)".utf8) }
        #expect(try RecordDecoder().decode(Int.self, fromEach: lazily).map { try $0.get() } == [0, 1, 2, 3, 4])
        let once = AnyIterator(data(["1", "2"]).makeIterator())
        #expect(try RecordDecoder().decode(Int.self, fromEach: once).map { try $0.get() } == [1, 2])
    }

    @Test("Longer records and records with other members don't affect later ones")
    func traces() throws {
        let long = "{\((0..<5_000).map { "\"m\($0)\":\($0)" }.joined(separator: ","))}"
        let records = [
            long, #"{"m1":7}"#, "{}", #"{"\u006d1":8}"#, long, #"{"m2":9,"m1":null}"#, "[", #"{"m1":1,"m1":2}"#,
        ]
        let outcomes = RecordDecoder().decode([String: Int?].self, fromEach: data(records))
        for (record, outcome) in zip(records, outcomes) {
            let expected = Oracle().foundationsDecoding(of: [String: Int?].self, from: Data(record.utf8))
            #expect(exactDescription(of: outcome) == exactDescription(of: expected))
        }
    }

    /// Records the user info.
    struct UserInfoProbe: Decodable, Equatable {
        static let key = CodingUserInfoKey(rawValue: "probe").unsafelyUnwrapped
        var text: String?

        init(from decoder: any Decoder) throws {
            text = decoder.userInfo[Self.key] as? String
        }
    }

    @Test("Each record of a batch sees the user info of its own call")
    func userInfo() throws {
        var decoder = RecordDecoder(userInfo: [UserInfoProbe.key: "first"])
        let records = data(["1", "[]", "{}"])
        #expect(
            try decoder.decode(UserInfoProbe.self, fromEach: records).map { try $0.get().text } == [
                "first", "first", "first",
            ])
        decoder.userInfo = [UserInfoProbe.key: "second"]
        #expect(try decoder.decode(UserInfoProbe.self, from: records[0]).text == "second")
        #expect(try RecordDecoder().decode(UserInfoProbe.self, from: records[0]).text == nil)
    }
}
