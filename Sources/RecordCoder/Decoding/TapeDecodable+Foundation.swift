import Foundation

extension Date: TapeDecodable {
    static func decode(at index: Int, from state: DecodingState) throws -> Date {
        Date(timeIntervalSinceReferenceDate: try state.double(at: index, as: Date.self))
    }
}

extension URL: TapeDecodable {
    static func decode(at index: Int, from state: DecodingState) throws -> URL {
        if let url = URL(string: try state.string(at: index, as: URL.self)) { return url }
        return try state.askFoundation(URL.self, at: index)
    }
}

extension Data: TapeDecodable {
    static func decode(at index: Int, from state: DecodingState) throws -> Data {
        if let data = Data(base64Encoded: try state.string(at: index, as: Data.self)) { return data }
        return try state.askFoundation(Data.self, at: index)
    }
}

extension Decimal: TapeDecodable {
    static func decode(at index: Int, from state: DecodingState) throws -> Decimal {
        let token = state.fields.pointee.tape[index]
        guard token.isNumber else { throw state.mismatch(Decimal.self, at: index) }
        let number = DecimalText(state.text(of: token), count: Int(token.count))
        if number.isExact, number.significand == 0, !number.isNegative { return 0 }
        let sign: FloatingPointSign = number.isNegative ? .minus : .plus
        if number.isExact, number.significand != 0, abs(number.exponent) <= 64 {
            return Decimal(sign: sign, exponent: number.exponent, significand: Decimal(number.significand))
        }
        if let parts = LongDecimalText(state.text(of: token), count: Int(token.count)) {
            // Exact: the significand has at most 38 digits, the precision of the type.
            let high = Decimal(sign: .plus, exponent: 19, significand: Decimal(parts.high))
            let significand = high + Decimal(parts.low)
            return Decimal(sign: sign, exponent: parts.exponent, significand: significand)
        }
        return try state.askFoundation(Decimal.self, at: index)
    }
}

extension UUID: TapeDecodable {
    static func decode(at index: Int, from state: DecodingState) throws -> UUID {
        let token = state.fields.pointee.tape[index]
        if token.kind == .string, token.count == 36, let uuid = UUID(text: state.text(of: token)) { return uuid }
        guard token.kind == .string else { throw state.mismatch(UUID.self, at: index) }
        return try state.askFoundation(UUID.self, at: index)
    }

    /// Reads the 36 characters of RFC 4122.
    ///
    /// - Parameter text: 36 bytes.
    private init?(text: UnsafePointer<UInt8>) {
        let hyphen = UInt8(ascii: "-")
        guard text[8] == hyphen, text[13] == hyphen, text[18] == hyphen, text[23] == hyphen,
            // In bounds: eight bytes each, at 0..<8, 9..<13 and 14..<18, 19..<23 and 24..<28, and 28..<36.
            let first = HexadecimalWord(text).value,
            let second = HexadecimalWord(text + 9, text + 14).value,
            let third = HexadecimalWord(text + 19, text + 24).value,
            let fourth = HexadecimalWord(text + 28).value
        else { return nil }
        let high = UInt64(first) << 32 | UInt64(second)
        let low = UInt64(third) << 32 | UInt64(fourth)
        let bigEndian = (high.bigEndian, low.bigEndian)
        // Both have sixteen bytes.
        self.init(uuid: unsafeBitCast(bigEndian, to: uuid_t.self))
    }
}
