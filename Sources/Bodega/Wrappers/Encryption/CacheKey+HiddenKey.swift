extension CacheKey {
    /// The beginning of the keys that stand for items whose keys can't be decrypted.
    static var unreadablePrefix: String { "emporium.unreadable:" }

    /// Whether the key stands for an item whose key can't be decrypted, see ``KeyHidingStorageEngine``.
    package var isUnreadable: Bool {
        kind == .verbatim && identity.utf8.starts(with: Self.unreadablePrefix.utf8)
    }

    /// Whether the key has the form of a name under which a ``KeyHidingStorageEngine`` keeps an item.
    package var hasFormOfHiddenKey: Bool { kind == .hashed && HiddenKeyCipher.hasForm(identity) }
}
