extension CacheKey {
    /// The beginning of the keys that stand for items whose keys can't be decrypted.
    static var unreadablePrefix: String { "emporium.unreadable:" }

    /// Whether the key stands for an item whose key can't be decrypted, see ``KeyHidingStorageEngine``.
    package var isUnreadable: Bool { unreadableName != nil }

    /// The name of the item whose key can't be decrypted; `nil` for other keys.
    var unreadableName: CacheKey? {
        let (identity, prefix) = (identity.utf8, Self.unreadablePrefix.utf8)
        guard kind == .verbatim, identity.starts(with: prefix), identity.count >= prefix.count + 2,
            case let rest = identity.dropFirst(prefix.count), rest.dropFirst().first == UInt8(ascii: ":"),
            let kind = rest.first.flatMap({ CacheKey.Kind(code: $0 &- UInt8(ascii: "0")) })
        else { return nil }
        return CacheKey(identity: String(decoding: rest.dropFirst(2), as: UTF8.self), kind: kind)
    }

    /// The key that stands for an item whose key can't be read, only the name under which it is stored.
    static func standIn(forItemNamed name: CacheKey) -> CacheKey {
        CacheKey(identity: unreadablePrefix + "\(name.kind.code):" + name.identity, kind: .verbatim)
    }

    /// Whether the key is the name of a file that has lost the key of its item, as a copy without extended attributes
    /// has, or that Bodega 2 has written.
    var isNameOfFile: Bool {
        kind == .verbatim && DiskName.isMadeFromKey(identity) && !identity.looksLikeRandomUUID
    }

    /// Throws if the key stands for an item whose key can't be decrypted, which can't be written.
    func checkIsReadable() throws {
        guard isUnreadable else { return }
        throw StorageError(
            .invalidArgument, "The key denotes an item that can't be read. Remove the item, or use another key.",
            key: self)
    }

    /// Whether the key has the form of a name under which a ``KeyHidingStorageEngine`` keeps an item.
    package var hasFormOfHiddenKey: Bool { kind == .hashed && HiddenKeyCipher.hasForm(identity) }
}
