import Foundation

/// The message `AesGcmKey` of Tink, in the encoding of [Protocol
/// Buffers](https://protobuf.dev/programming-guides/encoding).
///
///     message AesGcmKey { uint32 version = 1; bytes key_value = 3; }
struct AESGCMKeyMessage {
    private static let versionField: UInt64 = 1 << 3
    private static let secretField: UInt64 = 3 << 3 | 2

    /// The bytes of the key.
    let secret: Data

    init(secret: Data) { self.secret = secret }

    /// Decodes a message of version 0. Other fields are not accepted, because the key may mean something else with
    /// them.
    init?(bytes: Data) {
        var rest = bytes[...]
        var secret: Data?
        while !rest.isEmpty {
            guard let field = Self.number(from: &rest), let number = Self.number(from: &rest) else { return nil }
            switch field {
            case Self.versionField:
                guard number == 0 else { return nil }
            case Self.secretField:
                guard number <= rest.count else { return nil }
                secret = Data(rest.prefix(Int(number)))
                rest.removeFirst(Int(number))
            default:
                return nil
            }
        }
        guard let secret else { return nil }
        self.secret = secret
    }

    /// The encoded message. The version 0 is the default and is omitted.
    var bytes: Data {
        Data([UInt8(Self.secretField), UInt8(secret.count)]) + secret
    }

    /// Removes a number of variable length from the front: seven bits in each byte, the lowest first.
    private static func number(from bytes: inout Data) -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: 0, to: 63, by: 7) {
            guard let byte = bytes.popFirst() else { return nil }
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
        }
        return nil
    }
}
