import Crypto
import Foundation

/// The names that a key's file can have.
///
/// - The *home* is the key's value, the name that Bodega gives the file.
/// - The *detour* is for keys whose home no file can have or that another key's file has: a hash of the whole key.
/// - The *original* is the name that Bodega has given to the file of a URL with `www.` in another place than the beginning
///   of the host, because it cuts that out anywhere. No file gets it, but one that has it keeps it.
///
/// A file says in its ``DiskRecord`` which key it belongs to. When two keys want one home, a hashed key gets it and the
/// other's file moves to its detour; between two others, who comes first.
struct DiskName {
    /// The name of the key's file if nobody else has it; `nil` if no file can have it.
    let home: String?

    /// The name that Bodega has given to the key's file, if that is not the home.
    let original: String?

    private let key: CacheKey

    init(_ key: CacheKey) {
        self.key = key
        let value = key.value
        home = key.kind != .verbatim || Self.canBeName(value) ? value : nil
        let identity = key.kind == .url ? key.identity : ""
        original =
            identity.contains("www.")
            ? identity.replacingOccurrences(of: "www.", with: "").groupedMD5 : nil
    }

    /// The name of the key's file otherwise.
    var detour: String {
        var hash = SHA256()
        hash.update(data: Array(key.kind.rawValue.utf8) + [0])
        hash.update(data: Array(key.identity.utf8))
        return "emporium-" + hash.finalize().withUnsafeBytes { $0.hexadecimal }
    }

    /// Whether the key's file can have a name. Case and the two ways to write an accent are left to the volume.
    func canBe(_ name: String) -> Bool {
        if let home, home.utf8.elementsEqual(name.utf8) { return true }
        let name = Self.folded(name)
        return [home, detour, original].contains { $0.map(Self.folded) == name }
    }

    /// Whether a file that is there can be a key's.
    static func file(_ name: String, canBeOf key: CacheKey) -> Bool {
        // Most verbatim keys are the names of their files, and finding that out first spares the rest.
        if key == CacheKey(verbatim: name), name.utf8.first != UInt8(ascii: ".") { return true }
        return DiskName(key).canBe(name)
    }

    /// Whether a folder's entry can be an item: neither ours nor one that the system puts into any folder.
    static func canBeItem(_ name: String) -> Bool {
        name != controlFolder && name != ".DS_Store"
    }

    /// What names have in common that a volume that ignores case, or how accents are written, takes for one.
    static func folded(_ name: String) -> [UInt8] {
        Array(name.lowercased().decomposedStringWithCanonicalMapping.utf8)
    }

    /// The folder for what is not an item.
    static let controlFolder = ".emporium"

    private static func canBeName(_ value: String) -> Bool {
        // 255 bytes is the limit of every common file system.
        guard (1...255).contains(value.utf8.count), !value.utf8.contains(0), !value.utf8.contains(UInt8(ascii: "/"))
        else {
            return false
        }
        // Only those with a leading dot can be taken, and hardly any name has one.
        guard value.utf8.first == UInt8(ascii: ".") else { return true }
        return value != "." && value != ".." && ![controlFolder, ".ds_store"].contains(value.lowercased())
    }
}
