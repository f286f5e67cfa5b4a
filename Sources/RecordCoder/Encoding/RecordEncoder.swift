public import Foundation

public struct RecordEncoder: Sendable {
    public var userInfo: [CodingUserInfoKey: any Sendable]

    public init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        self.userInfo = userInfo
    }

    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        let encoder = JSONEncoder()
        encoder.userInfo = userInfo
        return try encoder.encode(value)
    }

    public func encode<Value: Encodable>(each values: some Sequence<Value>) -> [Result<Data, any Error>] {
        values.map { value in Result { try encode(value) } }
    }
}
