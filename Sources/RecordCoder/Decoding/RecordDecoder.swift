public import Foundation

/// Decodes `Codable` values from JSON, several times as fast as `JSONDecoder`, with the same results.
///
/// ```swift
/// let quote = try RecordDecoder().decode(Quote.self, from: data)
/// ```
///
/// The decoder accepts any JSON that `JSONDecoder` accepts with its default strategies, and throws the same errors. On
/// an error, or when the JSON is unusual, it falls back to `JSONDecoder`, which decodes the whole value again. An
/// `init(from:)` with side effects may therefore run twice.
///
/// A decoder is a stateless value. It can be used concurrently on many threads, and within an `init(from:)`.
public struct RecordDecoder: Sendable {

    /// The contextual information in `Decoder.userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    /// Creates a decoder.
    ///
    /// - Parameter userInfo: The contextual information in `Decoder.userInfo`.
    public init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        self.userInfo = userInfo
    }

    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: The value's type.
    ///   - data: JSON in UTF-8, or another encoding that `JSONDecoder` takes, with at most 512 levels of nesting.
    /// - Throws: The error that `JSONDecoder` would throw: a `DecodingError`, or an error of the type's `init(from:)`.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try DecodingState.withState(userInfo: userInfo) { state in try decode(type, from: data, with: state) }
    }

    /// Decodes many values, one from each record. This is faster than decoding them one by one.
    ///
    /// - Parameters:
    ///   - type: The values' type.
    ///   - records: The records, each as for ``decode(_:from:)``.
    /// - Returns: For each record, in the same order, the value, or the error that ``decode(_:from:)`` would throw.
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

    /// Decodes many values and passes them to a closure one by one, so that they need not all be in memory.
    ///
    /// - Parameters:
    ///   - type: The values' type.
    ///   - records: The records, each as for ``decode(_:from:)``.
    ///   - receive: Called with the value of each record that can be decoded, in order.
    ///   - failure: Called for each other record, with the error that ``decode(_:from:)`` would throw.
    /// - Throws: Any error that `receive` or `failure` throws. The remaining records are not decoded then.
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
                // The fallback below throws Foundation's error.
            }
        }
        let decoder = JSONDecoder()
        decoder.userInfo = userInfo
        return try decoder.decode(type, from: data.withoutBracketAtTheEnd)
    }
}

extension Data {
    /// A JSON text that does not end with an opening bracket. If such a bracket is nested too deeply, `JSONDecoder`
    /// reads past the end of the text and crashes.
    package var withoutBracketAtTheEnd: Data {
        // In UTF-16 and UTF-32, zeros precede or follow the bracket, and must do the same with the added space.
        let behind = suffix(4).reversed().prefix { $0 == 0 }
        let rest = dropLast(behind.count)
        guard let last = rest.last, last == UInt8(ascii: "[") || last == UInt8(ascii: "{") else { return self }
        let before = rest.dropLast().suffix(3).reversed().prefix { $0 == 0 }
        return self + before + [UInt8(ascii: " ")] + behind
    }
}
