import Foundation
import RecordCoder
import Testing

@Suite struct RecordEncoderReuseTests {

    @Test("In a batch, a value that cannot be encoded doesn't affect the others")
    func batch() throws {
        let values = [1, 2, .nan, 4, .infinity, 6].map { ["x": [$0]] }
        let results = RecordEncoder().encode(each: values)
        #expect(results.count == values.count)
        for (value, result) in zip(values, results) {
            if value["x"]?.first?.isFinite == true {
                #expect(try result.get() == JSONEncoder().encode(value))
            } else {
                let expected = #expect(throws: EncodingError.self) { try JSONEncoder().encode(value) }
                let error = #expect(throws: EncodingError.self) { try result.get() }
                #expect("\(try #require(error))" == "\(try #require(expected))")
            }
        }
    }

    @Test("A batch can be empty, and any sequence")
    func sequences() throws {
        #expect(RecordEncoder().encode(each: [Int]()).isEmpty)
        let results = RecordEncoder().encode(each: sequence(first: 1) { $0 < 5 ? $0 + 1 : nil })
        #expect(try results.map { String(decoding: try $0.get(), as: UTF8.self) } == ["1", "2", "3", "4", "5"])
    }

    @Test("A value can encode others while it is encoded, with the same encoder")
    func reentrancy() throws {
        let encoder = RecordEncoder()
        func nested(_ depth: Int) -> Custom {
            Custom { own in
                var container = own.container(keyedBy: Letter.self)
                try container.encode(depth, forKey: .a)
                if depth > 0 {
                    let inner = String(decoding: try encoder.encode(nested(depth - 1)), as: UTF8.self)
                    try container.encode(inner, forKey: .b)
                    try container.encode(encoder.encode(each: [nested(0)]).count, forKey: .c)
                }
            }
        }
        #expect(String(decoding: try encoder.encode(nested(1)), as: UTF8.self) == #"{"a":1,"b":"{\"a\":0}","c":1}"#)
        // More at the same time than the pool keeps.
        _ = try encoder.encode(nested(6))
        #expect(String(decoding: try encoder.encode(nested(1)), as: UTF8.self) == #"{"a":1,"b":"{\"a\":0}","c":1}"#)
    }

    @Test("Large records don't affect later small ones")
    func sizes() throws {
        let encoder = RecordEncoder()
        let large = String(repeating: "x\"", count: 2_000_000)
        #expect(try JSONDecoder().decode(String.self, from: encoder.encode(large)) == large)
        #expect(String(decoding: try encoder.encode([1]), as: UTF8.self) == "[1]")
        let numbers = Array(0..<100_000)
        #expect(try JSONDecoder().decode([Int].self, from: encoder.encode(numbers)) == numbers)
        #expect(String(decoding: try encoder.encode([1]), as: UTF8.self) == "[1]")
    }

    @Test("The result is a copy that later records don't change")
    func copies() throws {
        let encoder = RecordEncoder()
        let first = try encoder.encode(["a", "b"])
        _ = try encoder.encode(["c", "d"])
        #expect(String(decoding: first, as: UTF8.self) == #"["a","b"]"#)
    }
}

/// One encoder that many threads use concurrently.
@Suite struct RecordEncoderConcurrencyTests {
    private struct Record: Codable, Equatable {
        var number: Int
        var text: String
        var list: [Double]
        var names: [String: Int]

        init(number: Int) {
            self.number = number
            text = String(repeating: "t\n", count: number % 50)
            list = [Double(number) / 8]
            names = ["n": number]
        }
    }

    @Test("Threads can use an encoder concurrently")
    func threads() async throws {
        let encoder = RecordEncoder()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<32 {
                group.addTask {
                    for number in 0..<100 {
                        let record = Record(number: task * 100 + number)
                        let decoded = try JSONDecoder().decode(Record.self, from: encoder.encode(record))
                        #expect(decoded == record)
                        // Falls back to Foundation in between.
                        #expect(throws: EncodingError.self) { try encoder.encode([Double.nan]) }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
