public import Foundation

/// Encodes `Codable` values as JSON, several times as fast as Foundation's `JSONEncoder`.
///
/// The JSON is equivalent to that of a `JSONEncoder` with its default settings. Two details differ: keys come in the
/// order of encoding, and some strings and numbers are spelled differently, for example slashes are not escaped. Dates
/// are seconds since the reference date, data is Base64, and numbers that are not finite are an error.
///
/// On an error, or when a value does something unusual, such as encoding a key twice or writing alternately to several
/// containers, the encoder falls back to Foundation: it discards its output, calls the value's `encode(to:)` again with
/// a `JSONEncoder`, and returns that result or throws that error. An `encode(to:)` with side effects may run twice.
///
/// One encoder can be used concurrently on many threads, and within an `encode(to:)`.
public struct RecordEncoder: Sendable {
    /// The contextual information in `Encoder.userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    /// Makes an encoder.
    ///
    /// - Parameter userInfo: The contextual information in `Encoder.userInfo`.
    public init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        self.userInfo = userInfo
    }

    /// Encodes a value.
    ///
    /// - Parameter value: Any value; the top level need not be an object or array.
    /// - Returns: Its JSON in UTF-8.
    /// - Throws: The error of a `JSONEncoder`: an `EncodingError`, or one of the value's `encode(to:)`.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        var state = EncodingState.take(userInfo: userInfo)
        let data = state.record(value)
        let isShared = !isKnownUniquelyReferenced(&state)
        if isShared { return try encodeWithFoundation(value) }
        EncodingState.putBack(consume state)
        return try data ?? encodeWithFoundation(value)
    }

    /// Encodes many values. This is faster than encoding them one by one.
    ///
    /// A value that cannot be encoded doesn't affect the others.
    ///
    /// - Parameter values: The values.
    /// - Returns: For each value, in the same order, its JSON in UTF-8, or the error that ``encode(_:)`` would throw.
    public func encode<Value: Encodable>(each values: some Sequence<Value>) -> [Result<Data, any Error>] {
        var results: [Result<Data, any Error>] = []
        results.reserveCapacity(values.underestimatedCount)
        var state = EncodingState.take(userInfo: userInfo)
        for value in values {
            let data = state.record(value)
            let isShared = !isKnownUniquelyReferenced(&state)
            if isShared { state = EncodingState.take(userInfo: userInfo) }
            if !isShared, let data {
                results.append(.success(data))
            } else {
                results.append(Result { try encodeWithFoundation(value) })
            }
        }
        EncodingState.putBack(consume state)
        return results
    }

    private func encodeWithFoundation<Value: Encodable>(_ value: Value) throws -> Data {
        let encoder = JSONEncoder()
        encoder.userInfo = userInfo
        let data = try encoder.encode(value)
        // Foundation writes `Decimal.nan` as a word that no decoder reads.
        guard data.withUnsafeBytes({ JSONScanner.document($0) }) != nil else {
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(
                    codingPath: [], debugDescription: "The value has a number that JSON can't have, such as NaN."))
        }
        return data
    }
}

extension EncodingState {
    /// Encodes a value as a record.
    ///
    /// - Returns: The JSON, or `nil` if Foundation has to encode the value.
    fileprivate func record<Value: Encodable>(_ value: Value) -> Data? {
        storage.pointee.begin()
        do {
            try write(value, depth: 0)
        } catch {
            // Foundation encodes the value again and throws its own error.
            storage.pointee.giveUp()
            return nil
        }
        guard !storage.pointee.hasGivenUp else { return nil }
        // In bounds: `count` bytes are written.
        let data = Data(
            buffer: UnsafeRawBufferPointer(start: storage.pointee.output.base, count: storage.pointee.output.count)
                .bindMemory(to: UInt8.self))
        // Escaped containers must not write to the buffer.
        storage.pointee.giveUp()
        return data
    }
}
