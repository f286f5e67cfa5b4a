public import Foundation

/// Decodes `Codable` values from JSON, several times as fast as `JSONDecoder`, with the same results.
///
/// ```swift
/// let quote = try RecordDecoder().decode(Quote.self, from: data)
/// ```
///
/// It takes any JSON that `JSONDecoder` takes with its default strategies, and throws the same errors. What it can't decode
/// by itself, it gives to `JSONDecoder`: when it meets an error, or JSON that is out of the ordinary, the whole value is
/// decoded a second time. An `init(from:)` with side effects may therefore run twice.
///
/// A decoder is a value without state, which can be used on many threads at once and from within an `init(from:)`.
public struct RecordDecoder: Sendable {

    /// What `init(from:)` finds in `Decoder.userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    /// Creates a decoder.
    ///
    /// - Parameter userInfo: What `init(from:)` finds in `Decoder.userInfo`.
    public init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        self.userInfo = userInfo
    }

    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: The value's type.
    ///   - data: JSON in UTF-8, or in another encoding that `JSONDecoder` takes. Nested deeper than 512, it is rejected.
    /// - Throws: What `JSONDecoder` would throw: a `DecodingError`, or what the type's `init(from:)` throws.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try DecodingState.withState(userInfo: userInfo) { state in try decode(type, from: data, with: state) }
    }

    /// Decodes many values, one from each record. This takes less time than decoding them one by one.
    ///
    /// - Parameters:
    ///   - type: The values' type.
    ///   - records: The records, each as of ``decode(_:from:)``.
    /// - Returns: For each record in its place, the value, or what ``decode(_:from:)`` would throw.
    public func decode<Value: Decodable>(
        _ type: Value.Type,
        fromEach records: some Sequence<Data>
    ) -> [Result<Value, any Error>] {
        var values: [Result<Value, any Error>] = []
        values.reserveCapacity(records.underestimatedCount)
        decode(type, fromEach: records) {
            values.append(.success($0))
        } failure: {
            values.append(.failure($0))
        }
        return values
    }

    /// Decodes many values and hands them over one by one, which spares the memory for all of them.
    ///
    /// - Parameters:
    ///   - type: The values' type.
    ///   - records: The records, each as of ``decode(_:from:)``.
    ///   - receive: For each record in order, either this is called with the value,
    ///   - failure: or this with what ``decode(_:from:)`` would throw.
    /// - Throws: What `receive` or `failure` throws; the records behind are not decoded then.
    public func decode<Value: Decodable>(
        _ type: Value.Type,
        fromEach records: some Sequence<Data>,
        receive: (consuming Value) throws -> Void,
        failure: (any Error) throws -> Void
    ) rethrows {
        try DecodingState.withState(userInfo: userInfo) { state in
            for record in records {
                DecodingState.renewIfShared(&state)
                let value: Value
                do {
                    value = try decode(type, from: record, with: state)
                } catch {
                    try failure(error)
                    continue
                }
                try receive(value)
            }
        }
    }

    private func decode<Value: Decodable>(
        _ type: Value.Type,
        from data: Data,
        with state: DecodingState
    ) throws -> Value {
        if state.load(data) {
            do {
                let value = try state.decode(type, at: Tape.root)
                if !state.fields.pointee.isForFoundation { return value }
            } catch {
                // Foundation's error is the one to throw.
            }
        }
        let decoder = JSONDecoder()
        decoder.userInfo = userInfo
        return try decoder.decode(type, from: Self.withoutBracketAtTheEnd(data))
    }

    /// A text that does not end with an opening bracket: when that is nested too deeply, `JSONDecoder` reads behind the
    /// end of the text and ends the program.
    private static func withoutBracketAtTheEnd(_ text: Data) -> Data {
        // In UTF-16 and UTF-32, zeros stand before or behind the bracket, and before or behind the space that is added.
        let behind = text.suffix(4).reversed().prefix { $0 == 0 }
        let rest = text.dropLast(behind.count)
        guard let last = rest.last, last == UInt8(ascii: "[") || last == UInt8(ascii: "{") else { return text }
        let before = rest.dropLast().suffix(3).reversed().prefix { $0 == 0 }
        return text + before + [UInt8(ascii: " ")] + behind
    }
}
