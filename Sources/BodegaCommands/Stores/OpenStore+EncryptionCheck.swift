import Bodega
import Foundation

extension OpenStore {

    /// The number of items that are examined at most.
    private static let maximumCount = 300
    /// The size of items that are only examined if there are no smaller ones.
    private static let maximumSize = 4 << 20

    /// Checks that what a command is about to write will be encrypted as the items in the store are.
    ///
    /// - Parameter hasHiddenKeys: Whether hidden keys need no keyset, because none is written.
    /// - Throws: A ``ToolError`` if there are items, but the keysets can decrypt none of them, or if no keyset was
    ///   given and items seem to be encrypted.
    func checkEncryption(hasHiddenKeys: Bool = false) async throws {
        let names = try await base.someKeys(Self.maximumCount)
        guard let encryption else {
            guard try await seemsEncrypted(names) else { return }
            throw refusal(
                """
                items of \(address) seem to be encrypted, and no keyset was given. Give it (--keyset FILE, with copy \
                --to-keyset FILE), or write in clear text with --unchecked.
                """)
        }
        if names.isEmpty { return }
        if encryption.keysetForKeys == nil {
            if !hasHiddenKeys, Self.sample(of: names).contains(where: \.hasFormOfHiddenKey) {
                throw refusal(
                    """
                    the keys of \(address) seem to be hidden. Give --keyset-for-keys FILE (with copy \
                    --to-keyset-for-keys FILE).
                    """)
            }
            return try await checkItems(names)
        }
        let keys = try await engine.fetchKeys().filter { !$0.isUnreadable }
        if keys.isEmpty {
            throw refusal(
                """
                no key of \(address) can be decrypted. The keys are not hidden, or were hidden with another keyset for \
                keys (--keyset-for-keys FILE) or collection (--keyset-collection NAME).
                """)
        }
        try await checkItems(keys)
    }

    /// Whether some of the items have the form of encrypted ones.
    func seemsEncrypted() async throws -> Bool { try await seemsEncrypted(base.someKeys(Self.maximumCount)) }

    private func seemsEncrypted(_ names: [CacheKey]) async throws -> Bool {
        for name in Self.sample(of: names) {
            // The beginning is enough.
            var parts = try await base.fetchStream(key: name)?.makeAsyncIterator()
            if let part = try await parts?.next(), EncryptedItem.hasForm(part) { return true }
        }
        return false
    }

    /// Some of the first and of the last keys.
    private static func sample(of keys: [CacheKey]) -> [CacheKey] {
        keys.count <= 20 ? keys : keys.prefix(10) + keys.suffix(10)
    }

    /// Checks that one of some items can be decrypted. Others may be damaged.
    private func checkItems(_ keys: [CacheKey]) async throws {
        var large: CacheKey?
        var isForeign = false
        /// Whether an item is decrypted, `nil` if the keyset can't decrypt it.
        func isDecrypted(_ key: CacheKey, limit: Int) async throws -> Bool? {
            do {
                return try await decrypts(key, limit: limit)
            } catch let error as StorageError where error.isOfKeyset {
                isForeign = true
                return nil
            }
        }
        for key in keys.prefix(Self.maximumCount) {
            guard let isDecrypted = try await isDecrypted(key, limit: Self.maximumSize) else { continue }
            if isDecrypted { return }
            large = large ?? key
        }
        if let large, try await isDecrypted(large, limit: .max) == true { return }
        guard isForeign else { return }
        if try await !seemsEncrypted() {
            throw refusal(
                """
                the items of \(address) don't seem to be encrypted. Leave out the keyset, or encrypt a copy of them: \
                bodega copy \(address) NEW --to-keyset FILE
                """)
        }
        throw refusal(
            """
            no item of \(address) can be decrypted with this keyset. \(UnreadableItems.keysetAdvice) If both are \
            right, the items are damaged: bodega verify lists them, and bodega rm removes them.
            """)
    }

    /// Decrypts an item.
    ///
    /// - Returns: Whether it was decrypted: `false` if it is too large, or was removed.
    private func decrypts(_ key: CacheKey, limit: Int) async throws -> Bool {
        let name = (engine as? any TransformingStorageEngine)?.storedKey(key) ?? key
        if limit < .max, let stream = try await base.fetchStream(key: name) {
            var size = 0
            for try await part in stream {
                size += part.count
                if size > limit { return false }
            }
        }
        return try await engine.fetch(key: key) != nil
    }

    private func refusal(_ reason: String) -> ToolError { ToolError(.failure, "Nothing was written: \(reason)") }
}

extension StorageError {
    /// Whether the item is damaged, or encrypted in another way.
    var isOfKeyset: Bool { code == .decryptionFailed || code == .encryptionKeyMissing }
}

extension OpenStore {

    /// The error if there are items with keys that can't be decrypted; `nil` if there are none.
    ///
    /// - Parameter consequence: What follows for the command.
    func hiddenKeys(_ consequence: String) async throws -> ToolError? {
        guard let encryption else { return nil }
        return hiddenKeys(
            among: encryption.keysetForKeys == nil ? try await base.fetchKeys() : try await engine.fetchKeys(),
            consequence)
    }

    /// The error if there are keys that can't be decrypted among those of the store; `nil` if there are none.
    func hiddenKeys(among keys: [CacheKey], _ consequence: String) -> ToolError? {
        guard let encryption else { return nil }
        let isGiven = encryption.keysetForKeys != nil
        let count = keys.count { isGiven ? $0.isUnreadable : $0.hasFormOfHiddenKey }
        if count == 0 { return nil }
        let keys = Counted.text(count, "key")
        let reason = isGiven ? "can't be decrypted" : count == 1 ? "seems to be hidden" : "seem to be hidden"
        return ToolError(
            .failure,
            """
            \(keys) of \(address) \(reason). \(consequence) Give the keyset that hides the keys (--keyset-for-keys \
            FILE), and the name of the collection (--keyset-collection NAME).
            """)
    }
}
