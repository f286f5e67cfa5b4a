public import Foundation

public struct RecordDecoder: Sendable {
    public var userInfo: [CodingUserInfoKey: any Sendable]

    public init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        self.userInfo = userInfo
    }

    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.userInfo = userInfo
        return try decoder.decode(type, from: data)
    }

    public func decode<Value: Decodable>(
        _ type: Value.Type, fromEach records: some Sequence<Data>
    ) -> [Result<Value, any Error>] {
        records.map { record in Result { try decode(type, from: record) } }
    }
}
