import Foundation

extension EncryptedStorageEngine {

    /// Re-encrypts all items that are not encrypted with the primary key of the keyset.
    ///
    /// ```swift
    /// var keyset = engine.keyset
    /// let id = keyset.addKey()
    /// engine.use(keyset)             // 1. in all programs: the new key decrypts
    /// try keyset.makePrimary(id)
    /// engine.use(keyset)             // 2. in all programs: it encrypts
    /// _ = try await engine.reencrypt()   // 3. in one of them
    /// ```
    ///
    /// Other tasks and programs can use the engine in the meantime: an item that one of them writes is not replaced by
    /// an older version of it. If the program ends before the method does, call it again; what was done is not
    /// repeated. Afterwards the old key can be removed from the keysets, once no program encrypts with it any more.
    ///
    /// The items get new dates of their last write, and a change feed reports them as written.
    ///
    /// - Parameter progress: Receives the number of items that were examined so far, and the number of all.
    /// - Returns: The number of items that were re-encrypted, and an error for each item that can't be decrypted. Those
    ///   remain as they are.
    /// - Throws: A ``StorageError`` if the base could not be read or written, with ``StorageError/Code/conflict`` if
    ///   others change an item again and again.
    public func reencrypt(
        progress: (_ examined: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> (count: Int, errors: [StorageError]) {
        let keys = try await base.fetchKeys()
        var result: (count: Int, errors: [StorageError]) = (0, [])
        // A batch is small, because a writer that changes one of its items makes it fail.
        var (remaining, size) = (keys[...], PartSize())
        while !remaining.isEmpty {
            try Task.checkCancellation()
            let part = size.next(of: &remaining)
            if try await !reencrypt(part, &result, &size) {
                for key in part {
                    var attempts = ConditionalAttempts()
                    while try await !reencrypt([key], &result, &size) { try attempts.fail(key) }
                }
            }
            progress(keys.count - remaining.count, keys.count)
        }
        return result
    }

    /// - Returns: `false` if another writer has changed one of the items; none is re-encrypted then.
    private func reencrypt(
        _ keys: [CacheKey], _ result: inout (count: Int, errors: [StorageError]), _ size: inout PartSize
    ) async throws -> Bool {
        let primaryKeyID = keyset.primaryKeyID
        var operations: [StorageOperation] = []
        var conditions: [StorageCondition] = []
        var errors: [StorageError] = []
        let items = try await base.fetch(keys: keys)
        if keys.count > 1 { size.fit(bytes: items.reduce(0) { $0 + $1.data.count }, count: items.count) }
        for (key, stored) in items {
            do {
                if try EncryptedItem(stored).keyID == primaryKeyID { continue }
                let data = try encode(decrypt(stored, key: key), key: key)
                operations.append(.write(key: key, data: data))
                conditions.append(StorageCondition(key: key, data: stored))
            } catch var error as StorageError {
                error.key = key
                errors.append(error)
            }
        }
        guard try await base.apply(operations, if: conditions) else { return false }
        result.count += operations.count
        result.errors += errors
        return true
    }
}
