import Crypto
import Foundation

/// The names under which a base keeps the items of a ``KeyHidingStorageEngine``, which describes their form.
struct HiddenKeyCipher: Sendable {
    /// Texts shorter than this have names of one length.
    private static let blockSize = 32
    private static let nonceSize = 12
    private static let tagSize = 16

    /// The key of the keyed hash.
    private let hashSecret: SymmetricKey
    /// The key that encrypts.
    private let cipherSecret: SymmetricKey

    init(keyset: EncryptionKeyset, collection: String) {
        func derived(_ purpose: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: keyset.primaryKey.secret, info: Data((purpose + collection).utf8),
                outputByteCount: 32)
        }
        (hashSecret, cipherSecret) = (derived("emporium.key.1.hash:"), derived("emporium.key.1.text:"))
    }

    /// Returns the name of a key.
    func name(of key: CacheKey) -> String {
        var text = Data([key.kind.code])
        text.append(contentsOf: key.identity.utf8)
        text.append(0x80)
        let rest = text.count % Self.blockSize
        if rest > 0 { text.append(Data(count: Self.blockSize - rest)) }
        do {
            let nonce = try AES.GCM.Nonce(data: hash(text))
            guard let name = try AES.GCM.seal(text, using: cipherSecret, nonce: nonce).combined else {
                preconditionFailure("With a nonce of the standard size there always is a combined form.")
            }
            return Self.text(of: name)
        } catch {
            preconditionFailure(
                "A text in memory can be encrypted with a key of 256 bits and a nonce of 12 bytes: \(error)")
        }
    }

    /// Returns the key with a name, or `nil` if it has another keyset or collection, or is no such name.
    func key(named name: String) -> CacheKey? {
        guard let bytes = Self.bytes(of: name), let text = open(bytes),
            hash(text).elementsEqual(bytes.prefix(Self.nonceSize)),
            let end = text.lastIndex(where: { $0 != 0 }), end > text.startIndex, text[end] == 0x80,
            let kind = text.first.flatMap(CacheKey.Kind.init(code:)),
            let identity = String(validating: text[(text.startIndex + 1)..<end], as: UTF8.self)
        else { return nil }
        return CacheKey(identity: identity, kind: kind)
    }

    private func open(_ name: Data) -> Data? {
        do {
            return try AES.GCM.open(AES.GCM.SealedBox(combined: name), using: cipherSecret)
        } catch {
            // The name is of another keyset or collection. The caller reports the item under it.
            return nil
        }
    }

    private func hash(_ text: Data) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: text, using: hashSecret).prefix(Self.nonceSize))
    }

    // Names are base64url without padding (RFC 4648, section 5), in the one form that the encoder writes.

    private static func text(of bytes: Data) -> String {
        bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Returns whether a text has the form of a name.
    static func hasForm(_ name: String) -> Bool {
        guard let bytes = bytes(of: name) else { return false }
        let size = bytes.count - nonceSize - tagSize
        return size > 0 && size.isMultiple(of: blockSize)
    }

    private static func bytes(of text: String) -> Data? {
        let padded = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - padded.utf8.count % 4) % 4)
        guard let bytes = Data(base64Encoded: padded + padding), self.text(of: bytes) == text else { return nil }
        return bytes
    }
}
