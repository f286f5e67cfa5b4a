import Crypto

/// The names that a key's file can have.
///
/// - The *home* is the key's value, the name that Bodega gives the file.
/// - The *detour* is for keys whose home no file can have or that another key's file has: a hash of the whole key.
///
/// A file says in its ``DiskRecord`` which key it belongs to. When two keys want one home, a hashed key gets it and the
/// other's file moves to its detour; between two others, who comes first.
struct DiskName {
    /// The name of the key's file if nobody else has it; `nil` if no file can have it.
    let home: String?

    /// The name of the key's file otherwise.
    let detour: String

    init(_ key: CacheKey) {
        let value = key.value
        home = key.kind != .verbatim || Self.canBeName(value) ? value : nil
        let digest = SHA256.hash(data: [UInt8](key.kind.rawValue.utf8) + [0] + [UInt8](key.rawValue.utf8))
        detour =
            Self.detourPrefix
            + digest.map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
    }

    /// Whether a folder's entry can be an item: neither ours nor one that the system puts into any folder.
    static func canBeItem(_ name: String) -> Bool {
        name != controlFolder && name != ".DS_Store"
    }

    /// The folder for what is not an item.
    static let controlFolder = ".emporium"

    private static let detourPrefix = "emporium-"

    private static func canBeName(_ value: String) -> Bool {
        // 255 bytes is the limit of every common file system.
        (1...255).contains(value.utf8.count) && value != "." && value != ".." && canBeItem(value)
            && !value.utf8.contains(0) && !value.utf8.contains(UInt8(ascii: "/"))
    }
}
