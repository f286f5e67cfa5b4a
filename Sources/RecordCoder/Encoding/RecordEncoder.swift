public import Foundation

/// Encodes `Codable` values as JSON, several times as fast as Foundation's `JSONEncoder`.
///
/// The JSON is what a `JSONEncoder` without any settings would write, except for the order of keys, which is the one in
/// which a value encodes its members, and for the spelling of some strings and numbers: slashes are not escaped. Dates are
/// seconds since the reference date, data is Base64, numbers that are not finite are an error.
///
/// Foundation has the last word: where a value does something out of the ordinary, such as to encode a key twice or to
/// write to several containers in turns, and wherever there is an error, its `encode(to:)` is called once more with
/// Foundation's encoder, whose result or error the caller gets. What happened before has no effect, so an `encode(to:)`
/// that has side effects must expect them twice.
///
/// One encoder can be used by any number of threads at once, also by a value that is being encoded.
public struct RecordEncoder: Sendable {
    /// What a value finds in its encoder's `userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    /// Makes an encoder.
    ///
    /// - Parameter userInfo: What a value finds in its encoder's `userInfo`.
    public init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        self.userInfo = userInfo
    }

    /// Encodes a value.
    ///
    /// - Parameter value: Any value; the top level need not be an object or array.
    /// - Returns: Its JSON in UTF-8.
    /// - Throws: What `JSONEncoder` throws: an `EncodingError`, or whatever error a value's `encode(to:)` has.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        var state = EncodingState.take(userInfo: userInfo)
        let data = state.record(value)
        let isShared = !isKnownUniquelyReferenced(&state)
        if isShared { return try encodeWithFoundation(value) }
        EncodingState.putBack(consume state)
        return try data ?? encodeWithFoundation(value)
    }

    /// Encodes many values, which takes less time than to encode one after the other.
    ///
    /// A value that cannot be encoded doesn't concern the others.
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
        return try encoder.encode(value)
    }
}

extension EncodingState {
    /// Encodes a value as a record of its own.
    ///
    /// - Returns: Its JSON; `nil` if Foundation has to encode it.
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
        // For containers that somebody keeps: they write nothing any more.
        storage.pointee.giveUp()
        return data
    }
}
