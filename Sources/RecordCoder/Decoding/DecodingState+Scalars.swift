import Foundation

extension Token {
    /// Whether the token is a number.
    @inline(__always)
    var isNumber: Bool { kind == .integer || kind == .number }
}

extension DecodingState {

    @inline(__always)
    func isNull(at index: Int) -> Bool { fields.pointee.tape[index].kind == .null }

    @inline(__always)
    func bool(at index: Int) throws -> Bool {
        switch fields.pointee.tape[index].kind {
        case .true: true
        case .false: false
        default: throw mismatch(Bool.self, at: index)
        }
    }

    @inline(__always)
    func string(at index: Int) throws -> String { try string(at: index, as: String.self) }

    /// Decodes the string from which a value of some type is made.
    @inline(__always)
    func string<Value: Decodable>(at index: Int, as type: Value.Type) throws -> String {
        let token = fields.pointee.tape[index]
        guard token.kind == .string else { throw mismatch(type, at: index) }
        return string(of: token)
    }

    /// The text of a token: a scalar or name without escapes.
    @inline(__always)
    func string(of token: Token) -> String {
        if token.isIrregular { return unescapedString(token) }
        // The scanner has validated the UTF-8.
        return String(decoding: UnsafeBufferPointer(start: text(of: token), count: Int(token.count)), as: UTF8.self)
    }

    @inline(__always)
    func integer<Integer: FixedWidthInteger & Decodable>(_ type: Integer.Type, at index: Int) throws -> Integer {
        let token = fields.pointee.tape[index]
        if token.kind == .integer, let integer = Integer(digits: text(of: token), count: Int(token.count)) {
            return integer
        }
        guard token.isNumber else { throw mismatch(type, at: index) }
        if Integer.bitWidth > 64, token.kind == .integer,
            let integer = Integer(longDigits: text(of: token), count: Int(token.count))
        {
            return integer
        }
        // The number has a fraction or an exponent, or is large.
        return try askFoundation(type, at: index)
    }

    @inline(__always)
    func double(at index: Int) throws -> Double { try double(at: index, as: Double.self) }

    /// Decodes the number from which a value of some type is made.
    @inline(__always)
    func double<Value: Decodable>(at index: Int, as type: Value.Type) throws -> Double {
        let token = fields.pointee.tape[index]
        guard token.isNumber else { throw mismatch(type, at: index) }
        let number = DecimalText(text(of: token), count: Int(token.count))
        if let value = number.exactDouble ?? number.roundedDouble { return value }
        return try inexactDouble(at: index)
    }

    @inline(never)
    private func inexactDouble(at index: Int) throws -> Double {
        // Foundation decides how to treat overflow and underflow to zero.
        if let value = Double(string(of: fields.pointee.tape[index])), value.isFinite, value != 0 { return value }
        return try askFoundation(Double.self, at: index)
    }

    @inline(__always)
    func float(at index: Int) throws -> Float {
        let token = fields.pointee.tape[index]
        guard token.isNumber else { throw mismatch(Float.self, at: index) }
        let number = DecimalText(text(of: token), count: Int(token.count))
        if number.isExact, number.significand == 0 { return number.isNegative ? -0.0 : 0 }
        if let value = Float(string(of: token)), value.isFinite, value != 0 { return value }
        return try askFoundation(Float.self, at: index)
    }

    /// The token of the array from which a value of some type is made.
    @inline(__always)
    func array<Value: Decodable>(at index: Int, as type: Value.Type) throws -> Token {
        let token = fields.pointee.tape[index]
        guard token.kind == .array else { throw mismatch(type, at: index) }
        return token
    }

    /// The token of the object from which a value of some type is made.
    @inline(__always)
    func object<Value: Decodable>(at index: Int, as type: Value.Type) throws -> Token {
        let token = fields.pointee.tape[index]
        guard token.kind == .object else { throw mismatch(type, at: index) }
        return token
    }
}
