public import Foundation
import RecordCoder

/// A coder for JSON. It uses `RecordEncoder` and `RecordDecoder`, which produce the same results as Foundation's coders
/// in a fraction of the time, or configured coders of Foundation.
public struct JSONObjectCoder: ObjectCoder {
    private enum Coders {
        case record(RecordEncoder, RecordDecoder)
        case foundation(JSONEncoder, JSONDecoder)
    }

    private let coders: Coders
    /// What is known about the indexes of types that are stored with this coder.
    let trusts: IndexTrusts

    /// Creates a coder with the default strategies of Foundation's coders.
    ///
    /// - Parameter userInfo: The `userInfo` that is passed to `encode(to:)` and `init(from:)`.
    public init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        self.init(userInfo: userInfo, trusts: IndexTrusts())
    }

    init(userInfo: [CodingUserInfoKey: any Sendable] = [:], trusts: IndexTrusts) {
        coders = .record(RecordEncoder(userInfo: userInfo), RecordDecoder(userInfo: userInfo))
        self.trusts = trusts
    }

    /// All coders with the default strategies share what they know.
    fileprivate static let standard = JSONObjectCoder()

    /// Creates a coder that uses Foundation's coders.
    ///
    /// - Parameters:
    ///   - encoder: The encoder. Don't change it afterwards.
    ///   - decoder: A decoder that can decode the encoder's output. Don't change it afterwards.
    public init(encoder: JSONEncoder, decoder: JSONDecoder) {
        coders = .foundation(encoder, decoder)
        trusts = IndexTrusts()
    }

    /// How dates are stored; `nil` if that is unknown.
    var dateForm: DateForm? {
        guard case .foundation(let encoder, let decoder) = coders else { return .secondsSinceReferenceDate }
        switch (encoder.dateEncodingStrategy, decoder.dateDecodingStrategy) {
        case (.deferredToDate, .deferredToDate): return .secondsSinceReferenceDate
        case (.secondsSince1970, .secondsSince1970): return .seconds(1)
        case (.millisecondsSince1970, .millisecondsSince1970): return .seconds(1000)
        default: return nil
        }
    }

    /// Whether infinity and NaN can be stored, as texts.
    var storesNonFiniteNumbers: Bool {
        guard case .foundation(let encoder, let decoder) = coders else { return false }
        if case .throw = encoder.nonConformingFloatEncodingStrategy,
            case .throw = decoder.nonConformingFloatDecodingStrategy
        {
            return false
        }
        return true
    }

    public func encode<Object: Encodable>(_ object: Object) throws -> Data {
        switch coders {
        case .record(let encoder, _): try encoder.encode(object)
        case .foundation(let encoder, _): try encoder.encode(object)
        }
    }

    public func decode<Object: Decodable>(_ type: Object.Type, from data: Data) throws -> Object {
        switch coders {
        case .record(_, let decoder): try decoder.decode(type, from: data)
        case .foundation(_, let decoder): try decoder.decode(type, from: data.withoutBracketAtTheEnd)
        }
    }

    public func encode<Object: Encodable>(each objects: some Sequence<Object>) -> [Result<Data, any Error>] {
        switch coders {
        case .record(let encoder, _): encoder.encode(each: objects)
        case .foundation(let encoder, _): objects.map { object in Result { try encoder.encode(object) } }
        }
    }

    public func decode<Object: Decodable>(
        _ type: Object.Type,
        fromEach records: some Sequence<Data>,
        receive: (consuming Object) -> Void,
        failure: (any Error) -> Void
    ) {
        switch coders {
        case .record(_, let decoder): decoder.decode(type, fromEach: records, receive: receive, failure: failure)
        case .foundation(_, let decoder):
            for record in records {
                do {
                    receive(try decoder.decode(type, from: record.withoutBracketAtTheEnd))
                } catch {
                    failure(error)
                }
            }
        }
    }
}

extension ObjectCoder where Self == JSONObjectCoder {
    /// JSON with the default strategies of Foundation's coders.
    public static var json: JSONObjectCoder { .standard }

    /// JSON with coders of your own.
    ///
    /// - Parameters:
    ///   - encoder: The encoder. Don't change it afterwards.
    ///   - decoder: A decoder that can decode the encoder's output. Don't change it afterwards.
    public static func json(encoder: JSONEncoder, decoder: JSONDecoder) -> JSONObjectCoder {
        JSONObjectCoder(encoder: encoder, decoder: decoder)
    }
}
