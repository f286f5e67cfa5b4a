import BodegaTesting
import Foundation
import RecordCoder
import Testing

@Suite struct NumberEncodingTests {

    @Test(
        "A double is unchanged after decoding",
        arguments: [
            0, -0.0, 1, -1, 0.1, -0.1, 0.001, 0.0001, 1e-7, 1.5e-7, 1e-8, 123.456, 480.95, 1e15, 1e16, 1e17, 1e20, 1e22,
            1e23, 1e300, -1e300, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.1 + 0.2, 1 / 3, .pi,
            9_007_199_254_740_991, 9_007_199_254_740_992, 9_007_199_254_740_993, -9_007_199_254_740_991,
            4_503_599_627_370_495.5, 816_961_782.005_372_2, 769_123_456.789, 769_123_456.789_012_3, 225_179_981.3,
            225_179_981.368_524_7, 225_179_981.368_524_8, 900_719_925.474_099, 900_719_925.474_099_2, 999_999.999_999_9,
            9_999_999.999, 0.999_999_9, 0.999_999_95, 1.000_000_1, 1.000_000_05,
        ]
    )
    func doubles(value: Double) throws {
        try expectRoundTrip([value])
        let json = try RecordEncoder().encode(value)
        #expect(try JSONDecoder().decode(Double.self, from: json).bitPattern == value.bitPattern)
    }

    @Test("Random doubles of all magnitudes are unchanged after decoding", arguments: 1...20 as ClosedRange<UInt64>)
    func randomDoubles(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var values: [Double] = []
        for _ in 0..<500 {
            let bits = Double(bitPattern: random.next())
            if bits.isFinite { values.append(bits) }
            values.append(Double.random(in: -1e10...1e10, using: &random))
            values.append(Double(Int.random(in: -1_000_000_000...1_000_000_000, using: &random)) / 1000)
            values.append(Double(random.next() >> 10) / 10_000_000)
            // The adjacent values of numbers with few decimals, which have many decimals.
            values.append((Double(random.next() >> 40) / 100).nextUp)
        }
        let json = try RecordEncoder().encode(values)
        let decoded = try JSONDecoder().decode([Double].self, from: json)
        #expect(decoded.map(\.bitPattern) == values.map(\.bitPattern))
    }

    @Test(
        "A double with few decimals is written with them",
        arguments: [
            (0.1, "0.1"), (480.95, "480.95"), (-2.5, "-2.5"), (0.0000001, "0.0000001"),
            (769_123_456.789, "769123456.789"),
            (1_000_000.000_1, "1000000.0001"), (52.520_007, "52.520007"), (3, "3"), (-0.0, "-0"), (100, "100"),
            (123_456_789_012.345, "123456789012.345"), (1e15 + 0.5, "1000000000000000.5"),
        ]
    )
    func spelling(value: Double, text: String) throws {
        #expect(String(decoding: try RecordEncoder().encode(value), as: UTF8.self) == text)
    }

    @Test(
        "A float is unchanged after decoding",
        arguments: [
            0, -0.0, 1, 0.1, -0.1, 3.402_823_5e38, 1e-45, 16_777_215, 16_777_216, 16_777_218, 1e10, 0.333_333_34,
            7.5e-7,
        ] as [Float]
    )
    func floats(value: Float) throws {
        try expectRoundTrip([value])
        let json = try RecordEncoder().encode(value)
        #expect(try JSONDecoder().decode(Float.self, from: json).bitPattern == value.bitPattern)
    }

    @Test("Random floats are unchanged after decoding")
    func randomFloats() throws {
        var random = SeededGenerator(seed: 1)
        let values = (0..<10_000).map { _ in Float(bitPattern: UInt32(truncatingIfNeeded: random.next())) }
            .filter(\.isFinite)
        let json = try RecordEncoder().encode(values)
        let decoded = try JSONDecoder().decode([Float].self, from: json)
        #expect(decoded.map(\.bitPattern) == values.map(\.bitPattern))
    }

    @Test("Integers of each length are written in decimal")
    func integers() throws {
        var value = 0 as UInt64
        for digit in 1...20 as ClosedRange<UInt64> {
            value = value &* 10 &+ digit % 10
            let neighbors = [value &- 1, value, value &+ 1, value % 10 &* 1_0000_0000, .max &- value]
            for neighbor in neighbors {
                #expect(String(decoding: try RecordEncoder().encode(neighbor), as: UTF8.self) == "\(neighbor)")
                let signed = Int64(bitPattern: neighbor)
                #expect(String(decoding: try RecordEncoder().encode(signed), as: UTF8.self) == "\(signed)")
            }
        }
        for exponent in 0..<20 {
            let power = (0..<exponent).reduce(1 as UInt64) { power, _ in power * 10 }
            #expect(
                String(decoding: try RecordEncoder().encode([power - 1, power]), as: UTF8.self)
                    == "[\(power - 1),\(power)]")
        }
    }

    @Test("The bounds of all integer types survive, in all containers")
    func bounds() throws {
        try expectRoundTrip(Bounds<Int>(low: .min, high: .max))
        try expectRoundTrip(Bounds<Int8>(low: .min, high: .max))
        try expectRoundTrip(Bounds<Int16>(low: .min, high: .max))
        try expectRoundTrip(Bounds<Int32>(low: .min, high: .max))
        try expectRoundTrip(Bounds<Int64>(low: .min, high: .max))
        try expectRoundTrip(Bounds<UInt>(low: .min, high: .max))
        try expectRoundTrip(Bounds<UInt8>(low: .min, high: .max))
        try expectRoundTrip(Bounds<UInt16>(low: .min, high: .max))
        try expectRoundTrip(Bounds<UInt32>(low: .min, high: .max))
        try expectRoundTrip(Bounds<UInt64>(low: .min, high: .max))
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        try expectRoundTrip(Bounds<Int128>(low: .min, high: .max))
        try expectRoundTrip(Bounds<UInt128>(low: .min, high: .max))
    }

    @Test("Each integer type has a method of its own in each container")
    func overloads() {
        expectSameEncoding(
            Custom { encoder in
                var object = encoder.container(keyedBy: AnyKey.self)
                try object.encode(-1 as Int, forKey: "a")
                try object.encode(-2 as Int8, forKey: "b")
                try object.encode(-3 as Int16, forKey: "c")
                try object.encode(-4 as Int32, forKey: "d")
                try object.encode(-5 as Int64, forKey: "e")
                try object.encode(1 as UInt, forKey: "f")
                try object.encode(2 as UInt8, forKey: "g")
                try object.encode(3 as UInt16, forKey: "h")
                try object.encode(4 as UInt32, forKey: "i")
                try object.encode(5 as UInt64, forKey: "j")
                try object.encode(1.5 as Float, forKey: "k")
                try object.encode(2.5 as Double, forKey: "l")
                var array = object.nestedUnkeyedContainer(forKey: "m")
                try array.encode(-1 as Int)
                try array.encode(-2 as Int8)
                try array.encode(-3 as Int16)
                try array.encode(-4 as Int32)
                try array.encode(-5 as Int64)
                try array.encode(1 as UInt)
                try array.encode(2 as UInt8)
                try array.encode(3 as UInt16)
                try array.encode(4 as UInt32)
                try array.encode(5 as UInt64)
                try array.encode(1.5 as Float)
                try array.encode(2.5 as Double)
                try array.encode(true)
                try array.encode("x")
                try array.encodeNil()
            }
        )
        expectSameEncoding(single(-1 as Int))
        expectSameEncoding(single(-2 as Int8))
        expectSameEncoding(single(-3 as Int16))
        expectSameEncoding(single(-4 as Int32))
        expectSameEncoding(single(-5 as Int64))
        expectSameEncoding(single(1 as UInt))
        expectSameEncoding(single(2 as UInt8))
        expectSameEncoding(single(3 as UInt16))
        expectSameEncoding(single(4 as UInt32))
        expectSameEncoding(single(5 as UInt64))
        expectSameEncoding(single(1.5 as Float))
        expectSameEncoding(single(2.5 as Double))
        expectSameEncoding(single(true))
        expectSameEncoding(single("x"))
    }

    @Test(
        "A number that is not finite is Foundation's error, in any position",
        arguments: [.nan, .infinity, -.infinity] as [Double]
    )
    func notFinite(value: Double) {
        expectSameEncoding(value)
        expectSameEncoding([1, value])
        expectSameEncoding(["a": value])
        expectSameEncoding([value as Double?])
        expectSameEncoding([["a": [Float(value)]]])
        expectSameEncoding([Date(timeIntervalSinceReferenceDate: value)])
        expectSameEncoding(
            Custom {
                var container = $0.singleValueContainer(); try container.encode(value)
            })
        expectSameEncoding(
            Custom {
                var container = $0.singleValueContainer(); try container.encode(Float(value))
            })
        expectSameEncoding(
            Custom {
                var container = $0.unkeyedContainer(); try container.encode(value)
            })
        expectSameEncoding(
            Custom { encoder in
                var container = encoder.container(keyedBy: Letter.self)
                try container.encode(["x": [value]], forKey: .a)
            }
        )
    }

    /// A value that encodes an integer through a single-value container, not as itself.
    private func single<Value: Encodable & Sendable>(_ value: Value) -> Custom {
        Custom { encoder in
            var container = encoder.singleValueContainer()
            // Each type calls its own method, as a generic type does for its raw value.
            switch value {
            case let value as Int: try container.encode(value)
            case let value as Int8: try container.encode(value)
            case let value as Int16: try container.encode(value)
            case let value as Int32: try container.encode(value)
            case let value as Int64: try container.encode(value)
            case let value as UInt: try container.encode(value)
            case let value as UInt8: try container.encode(value)
            case let value as UInt16: try container.encode(value)
            case let value as UInt32: try container.encode(value)
            case let value as UInt64: try container.encode(value)
            case let value as Float: try container.encode(value)
            case let value as Double: try container.encode(value)
            case let value as Bool: try container.encode(value)
            case let value as String: try container.encode(value)
            default: try container.encode(value)
            }
        }
    }
}

private struct Bounds<Number: FixedWidthInteger & Codable>: Codable, Equatable {
    var low: Number
    var high: Number
    var optional: Number?
    var list: [Number]
    var named: [String: Number]

    init(low: Number, high: Number) {
        self.low = low
        self.high = high
        optional = high
        list = [low, 0, high]
        named = ["low": low, "high": high]
    }
}
