extension Bool: TapeDecodable {
    static func decode(at index: Int, from state: DecodingState) throws -> Bool { try state.bool(at: index) }
}

extension String: TapeDecodable {
    static func decode(at index: Int, from state: DecodingState) throws -> String { try state.string(at: index) }
}

extension Double: TapeDecodable {
    static func decode(at index: Int, from state: DecodingState) throws -> Double { try state.double(at: index) }
}

extension Float: TapeDecodable {
    static func decode(at index: Int, from state: DecodingState) throws -> Float { try state.float(at: index) }
}

extension TapeDecodable where Self: FixedWidthInteger & Decodable {
    static func decode(at index: Int, from state: DecodingState) throws -> Self {
        try state.integer(Self.self, at: index)
    }
}

extension Int: TapeDecodable {}
extension Int8: TapeDecodable {}
extension Int16: TapeDecodable {}
extension Int32: TapeDecodable {}
extension Int64: TapeDecodable {}
extension UInt: TapeDecodable {}
extension UInt8: TapeDecodable {}
extension UInt16: TapeDecodable {}
extension UInt32: TapeDecodable {}
extension UInt64: TapeDecodable {}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Int128: TapeDecodable {}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension UInt128: TapeDecodable {}
