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
        guard number.isExact, number.significand != 0, abs(number.exponent) <= 64 else {
            return try state.askFoundation(Decimal.self, at: index)
        }
        let sign: FloatingPointSign = number.isNegative ? .minus : .plus
        return Decimal(sign: sign, exponent: number.exponent, significand: Decimal(number.significand))
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
        for place in [8, 13, 18, 23] where text[place] != UInt8(ascii: "-") { return nil }
        var bytes: (UInt64, UInt64) = (0, 0)
        for place in 0..<36 where place != 8 && place != 13 && place != 18 && place != 23 {
            guard let digit = text[place].hexadecimalDigit else { return nil }
            bytes.0 = bytes.0 << 4 | bytes.1 >> 60
            bytes.1 = bytes.1 << 4 | UInt64(digit)
        }
        let bigEndian = (bytes.0.bigEndian, bytes.1.bigEndian)
        // Sixteen bytes both of them.
        self.init(uuid: unsafeBitCast(bigEndian, to: uuid_t.self))
    }
}
