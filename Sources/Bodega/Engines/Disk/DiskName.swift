import Crypto
import Foundation

/// The names that a key's file can have.
///
/// - The *home* is the key's value, the name that Bodega 2 uses, too.
/// - The *detour* is a hash of the whole key. It is used if the home is not a valid file name, or taken by another key.
/// - The *original* is the name that Bodega 2 has given to the file of a URL with `www.` elsewhere than at the start of
///   its host, because Bodega 2 removes every `www.`. No file gets this name, but a file that has it keeps it.
///
/// The ``DiskRecord`` of a file holds its key. If two keys have the same home, a hashed key gets it and the other's
/// file moves to its detour. If neither is hashed, the first one keeps it.
struct DiskName {
    /// The name of the key's file if no other key has it; `nil` if it is not a valid file name.
    let home: String?

    /// The name that Bodega 2 has given to the key's file, if that is not the home.
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

    /// The name of the key's file if it can't have the home.
    var detour: String {
        var hash = SHA256()
        hash.update(data: Array(key.kind.rawValue.utf8) + [0])
        hash.update(data: Array(key.identity.utf8))
        return "emporium-" + hash.finalize().hexadecimal
    }

    /// The names under which the key's file is looked for, in order. The hash is only computed if it is needed.
    var places: some Sequence<String> {
        (0..<3).lazy.compactMap { number in
            switch number {
            case 0: home
            case 1: detour
            default: original
            }
        }
    }

    /// Whether the key's file can have a name.
    ///
    /// - Parameter isFound: Returns whether the file with that name is found by another name, too, as on volumes that
    ///   ignore case or the encoding of accents. Elsewhere, names that only look alike are those of two files.
    private func canBe(_ name: String, where isFound: (String) throws -> Bool) rethrows -> Bool {
        if let home, home.utf8.elementsEqual(name.utf8) { return true }
        let folded = Self.folded(name)
        return try places.contains { place in
            guard Self.folded(place) == folded else { return false }
            return try place.utf8.elementsEqual(name.utf8) || isFound(place)
        }
    }

    /// Whether an existing file can belong to a key.
    ///
    /// - Parameter isFound: Returns whether the file is found by another name, too.
    static func file(
        _ name: String, canBeOf key: CacheKey, where isFound: (String) throws -> Bool
    ) rethrows -> Bool {
        // A fast path, because most verbatim keys are the names of their files.
        if key == CacheKey(verbatim: name), name.utf8.first != UInt8(ascii: ".") { return true }
        return try DiskName(key).canBe(name, where: isFound)
    }

    /// Whether a folder's entry can be an item: not the control folder, nor a file that the system adds to any folder.
    static func canBeItem(_ name: String) -> Bool {
        name != controlFolder && name != ".DS_Store"
    }

    /// The form in which names are equal on volumes that ignore case or the encoding of accents.
    static func folded(_ name: String) -> [UInt8] {
        Array(name.lowercased().decomposedStringWithCanonicalMapping.utf8)
    }

    /// The name of the control folder, which holds everything that is not an item.
    static let controlFolder = ".emporium"

    private static func canBeName(_ value: String) -> Bool {
        // 255 bytes is the limit of every common file system.
        guard (1...255).contains(value.utf8.count), !value.utf8.contains(0), !value.utf8.contains(UInt8(ascii: "/"))
        else {
            return false
        }
        // Only names with a leading dot can be reserved, and few names have one.
        guard value.utf8.first == UInt8(ascii: ".") else { return true }
        return value != "." && value != ".." && ![controlFolder, ".ds_store"].contains(value.lowercased())
    }
}
