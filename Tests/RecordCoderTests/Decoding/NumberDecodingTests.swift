import BodegaTesting
import Foundation
import Testing

@Suite struct NumberDecodingTests {

    /// Compares the results of all number types for a number's text, alone and within containers.
    private func expectSame(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        func expectSame<Number: Decodable>(_ type: Number.Type) {
            expectSameAsFoundation(type, text, sourceLocation: sourceLocation)
            expectSameAsFoundation([Number].self, "[\(text), \(text)]", sourceLocation: sourceLocation)
            expectSameAsFoundation([String: Number?].self, "{\"a\":\(text)}", sourceLocation: sourceLocation)
        }
        expectSame(Int.self)
        expectSame(Int8.self)
        expectSame(Int16.self)
        expectSame(Int32.self)
        expectSame(Int64.self)
        expectSame(UInt.self)
        expectSame(UInt8.self)
        expectSame(UInt16.self)
        expectSame(UInt32.self)
        expectSame(UInt64.self)
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            expectSame(Int128.self)
            expectSame(UInt128.self)
        }
        expectSame(Double.self)
        expectSame(Float.self)
        expectSame(Decimal.self)
        expectSame(Date.self)
        expectSame(Bool.self)
    }

    @Test(
        "Integers at and beyond the bounds of each width",
        arguments: [
            "0", "1", "-1", "9", "10", "99", "100", "12345678", "123456789", "1234567890123456",
            "127", "128", "-128", "-129", "255", "256", "32767", "32768", "-32768", "-32769", "65535", "65536",
            "2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296",
            "9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993",
            "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
            "18446744073709551615", "18446744073709551616", "18446744073709551625", "99999999999999999999",
            "170141183460469231731687303715884105727", "170141183460469231731687303715884105728",
            "-170141183460469231731687303715884105728", "-170141183460469231731687303715884105729",
            "340282366920938463463374607431768211455", "340282366920938463463374607431768211456",
            "1000000000000000000000000000000000000000000000000000000000000",
        ])
    func bounds(text: String) {
        expectSame(text)
    }

    @Test(
        "Integers written as fractions or with exponents",
        arguments: [
            "1.0", "1.00000000000000000000000000000000000000000", "-1.0", "1e2", "1E2", "1e+2", "100e-2", "1e-2",
            "1.5e1", "15e-1", "0.0", "0e5",
            "0e-5", "1e0", "127.0", "128.0", "1.28e2", "1e18", "1e19", "9223372036854775807.0", "9223372036854775808.0",
            "9007199254740993.0", "90071992547409930e-1", "18446744073709551615.0", "18446744073709551616.0",
            "1e38", "1.0e0000000000000000000000000002", "1e00", "2.5", "-0.5", "0.99999999999999999999",
        ])
    func fractions(text: String) {
        expectSame(text)
    }

    @Test("Zero keeps its sign", arguments: ["-0", "-0.0", "-0e1", "-0.0e-400", "0", "0.0", "0e400"])
    func zeros(text: String) throws {
        expectSame(text)
        let value = try #require(expectSameAsFoundation(Double.self, text))
        #expect(value == 0)
        #expect((value.sign == .minus) == text.hasPrefix("-"))
    }

    @Test("Zeros with exponents, of which Foundation rejects some")
    func zerosWithExponents() {
        for sign in ["", "-"] {
            for digits in ["0", "0.0", "0.00", "0.000", "0.0000000", "0.00000000000000000000"] {
                for mark in ["e", "E", "e+", "e-"] {
                    for exponent in ["0", "1", "3", "9", "03", "10", "33", "400", "0000", "1000000000000000000000"] {
                        expectSameAsFoundation(Double.self, sign + digits + mark + exponent)
                        expectSameAsFoundation([Float].self, "[1,\(sign)\(digits)\(mark)\(exponent),2]")
                        expectSameAsFoundation([Int].self, "[1,\(sign)\(digits)\(mark)\(exponent),2]")
                        expectSameAsFoundation([Date?].self, "[null, \(sign)\(digits)\(mark)\(exponent) ]")
                        expectSameAsFoundation(Decimal.self, sign + digits + mark + exponent)
                    }
                }
            }
        }
    }

    @Test(
        "Fractions of any length and size",
        arguments: [
            "0.1", "0.2", "0.3", "1.1", "3.14159", "2.718281828459045", "123.456", "-123.456", "99.99", "0.01", "1e22",
            "1e23", "1e-22", "1e-23",
            "9007199254740993e0", "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308",
            "1.8e308", "1e309", "1e400", "1e-400",
            "1e99999999999999999999", "1e-99999999999999999999", "0e99999999999999999999",
            "2.2250738585072014e-308", "2.2250738585072011e-308", "4.9e-324", "5e-324", "2.4703282292062327e-324",
            "2.4703282292062328e-324", "2e-324",
            "3.4028235e38", "3.4028236e38", "3.5e38", "1.1754944e-38", "1.4e-45", "7e-46", "16777217", "16777216.0",
            "0.1000000014901161193847656",
            "0.1000000000000000055511151231257827021181583404541015625", "1.00000000000000011102230246251565",
            "1.000000000000000111022302462515654042363166809082031250",
            "7.2057594037927933e16", "72057594037927933", "8.98846567431158e307", "6929495644600919.5",
            "3.7455744005952583e15",
            "0.000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001",
            "10000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000e-100",
            "0.30000000000000004", "100.00000000000001", "1234567.1234567", "12345678.12345678", "694310400.123456",
            "725760000.5", "1e1", "1E-1",
        ])
    func fractionsOfAnySize(text: String) {
        expectSame(text)
        expectSame("-" + text)
    }

    @Test("Thousands of digits", arguments: [17, 18, 19, 20, 38, 39, 40, 308, 309, 400, 5_000])
    func longNumbers(count: Int) {
        expectSame(String(repeating: "9", count: count))
        expectSame("1" + String(repeating: "0", count: count - 1))
        expectSame("0." + String(repeating: "0", count: count) + "1")
        expectSame("0." + String(repeating: "3", count: count))
        expectSame("1." + String(repeating: "0", count: count))
        expectSame("1" + String(repeating: "0", count: count) + "e-\(count)")
        expectSame("1" + String(repeating: "0", count: count) + ".5")
    }

    @Test("Doubles near the midpoint of two adjacent values are rounded as Foundation rounds them")
    func rounding() {
        // Powers of ten and five at the limits of exact scaling.
        for exponent in -30...30 {
            for digits in ["9007199254740991", "9007199254740993", "12345678901234567", "5", "1", "33", "8589934592"] {
                expectSameAsFoundation(Double.self, "\(digits)e\(exponent)")
                expectSameAsFoundation(Float.self, "\(digits)e\(exponent)")
            }
        }
    }

    @Test(
        "Text that only resembles a number is rejected",
        arguments: [
            "01", "-01", "00", "1.", "1.e1", ".5", "-.5", "+1", "-", "--1", "1e", "1e+", "1E-", "1e1.5", "0x10", "0b1",
            "0o7", "NaN", "nan", "-NaN",
            "Infinity", "-Infinity", "inf", "1_000", "1,000", "1 000", "１", "1f", "1d", "1.0.0", "1e1e1", "1-", "1+1",
            "- 1", "-a", "1a", "0a", "1.a",
            "1e5x", "1\u{0}", "1\u{B}", "0-1", "1/2", "1\"", "1]", "1}", "1:", "1,", "-0x1p3", "0x1p3", "1.5e+-3",
            "1e٣", "0.",
        ])
    func malformed(text: String) {
        expectSame(text)
    }

    @Test(
        "Numbers are not strings or Booleans, and vice versa",
        arguments: ["1", "0", "1.5", #""1""#, #""1.5""#, #""NaN""#, "true", "false", "null", "[]", "{}", #""""#])
    func otherTypes(text: String) {
        expectSame(text)
        expectSameAsFoundation(String.self, text)
    }

    @Test(
        "A number alone, with space around it and at the end of its buffer",
        arguments: ["1 ", " 1", "\n1\t", "1\r\n", "1\u{C}", "1 1", "1 ,", "1\u{A0}", "\u{FEFF}1"])
    func alone(text: String) {
        expectSameAsFoundation(Int.self, text)
        expectSameAsFoundation(Double.self, text)
        expectSameAsFoundation(Decimal.self, text)
    }
}

extension NumberDecodingTests {
    @Test(
        "Zeros of all types, and integers of twenty digits",
        arguments: [
            "0", "-0", "0.0", "-0.0", "0.000", "18446744073709551615", "18446744073709551616", "10000000000000000000",
            "-9223372036854775808", "-9223372036854775809", "99999999999999999999", "9223372036854775808",
        ])
    func zerosAndTwentyDigits(text: String) {
        expectSameAsFoundation(Float.self, text)
        expectSameAsFoundation(Decimal.self, text)
        expectSameAsFoundation(Int.self, text)
        expectSameAsFoundation(UInt64.self, text)
        expectSameAsFoundation([Float].self, "[\(text),\(text)]")
    }
    @Test("Random numbers of up to 45 digits, with and without fractions and exponents", arguments: 1...4)
    func manyDigits(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        func digits(_ count: Int) -> String {
            (0..<count).map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
        }
        for round in 0..<200 {
            var text = round.isMultiple(of: 2) ? "-" : ""
            text += String(Int.random(in: 1...9, using: &random)) + digits(.random(in: 0...44, using: &random))
            if round.isMultiple(of: 3) { text += String(repeating: "0", count: .random(in: 0...30, using: &random)) }
            if round.isMultiple(of: 4) { text += "." + digits(.random(in: 1...40, using: &random)) }
            if round.isMultiple(of: 7) { text += "e-\(Int.random(in: 0...80, using: &random))" }
            expectSameAsFoundation(Decimal.self, text)
            expectSameAsFoundation(Double.self, text)
            if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
                expectSameAsFoundation(Int128.self, text)
                expectSameAsFoundation(UInt128.self, text)
            }
        }
    }

    @Test("Random numbers near the smallest of their types", arguments: 1...4)
    func subnormals(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<100 {
            expectSameAsFoundation(Double.self, "\(Double(bitPattern: random.next() >> 12))")
            expectSameAsFoundation(Float.self, "\(Float(bitPattern: UInt32(random.next() >> 41)))")
            let digits = "\(Int.random(in: 1...9, using: &random)).\(random.next())"
            expectSameAsFoundation(Double.self, "\(digits)e-\(Int.random(in: 300...330, using: &random))")
            expectSameAsFoundation(Float.self, "\(digits)e-\(Int.random(in: 36...50, using: &random))")
        }
    }
}
