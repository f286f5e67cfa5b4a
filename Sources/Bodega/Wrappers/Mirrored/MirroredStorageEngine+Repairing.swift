import Foundation

// Repairing.
extension MirroredStorageEngine {

    /// Makes the items of the mirror equal to those of the base.
    ///
    /// If the mirror is known to lack only single items, those are copied. Otherwise all items are compared, about a
    /// mebibyte at a time; other calls go on in between. If the call fails, the mirror remains incomplete; call it
    /// again.
    ///
    /// - Parameter comparingAll: Whether to compare all items even if the mirror says that it is complete.
    /// - Returns: The number of items that were written to the mirror or removed from it.
    /// - Throws: The error of the engine that failed.
    @discardableResult
    public func repair(comparingAll: Bool = false) async throws -> Int {
        try await repairs.withLock {
            let mustCompare = try await lock.withLock {
                try await prepare()
                if comparingAll { state.withLock { $0.needsComparison = true } }
                return state.withLock { $0.needsComparison }
            }
            var count = 0
            if mustCompare {
                try await lock.withLock {
                    try await write(.incomplete)
                    state.withLock { $0.beginComparison() }
                }
                count += try await copyInParts(base.fetchKeys(options: original))
                count += try await copyInParts(contents.fetchKeys(options: original))
            }
            return try await lock.withLock {
                count += try await copyMissing()
                guard let mark = state.withLock({ $0.endComparison() }) else {
                    throw StorageError(
                        .unreachable, "The mirror failed while it was repaired. Call repair() again when it is back.")
                }
                try await write(mark)
                mirrorPause.end()
                return count
            }
        }
    }

    /// Makes the items of the mirror equal to those of the base, which is read with one call.
    ///
    /// Call it from time to time if others change the items of the base, as with an API. All items must fit into
    /// memory, and writes wait until it has ended; ``repair(comparingAll:)`` reads about a mebibyte at a time instead.
    /// The mirror changes with one batch: if that is atomic, a refresh that fails changes nothing, and the mirror can
    /// still be read. A mirror with limits or expiry gets the items in several batches.
    ///
    /// - Returns: The number of items that were written to the mirror or removed from it.
    /// - Throws: The error of the engine that failed.
    @discardableResult
    public func refresh() async throws -> Int {
        try await repairs.withLock {
            try await lock.withLock {
                let items = try await base.fetchAll(options: original).value.filter { $0.key != MirrorMark.key }
                basePause.end()
                // A copy that can't be read is replaced like one that differs.
                let options = ReadOptions(omitsUnreadable: true, needsOriginal: true)
                let read = try await callMirror { try await contents.fetchAll(options: options) }
                var copies: [CacheKey: Data?] = [:]
                for item in read.value { copies[item.key] = item.data }
                for key in read.report.unreadable.compactMap(\.key) { copies.updateValue(nil, forKey: key) }
                var operations: [StorageOperation] = []
                for item in items where copies.removeValue(forKey: item.key) != item.data {
                    operations.append(.write(key: item.key, data: item.data))
                }
                operations += copies.keys.map { .remove(key: $0) }
                try await replace(with: operations)
                mirrorPause.end()
                return operations.count
            }
        }
    }

    /// Applies the operations that make the mirror equal to the base.
    private func replace(with operations: [StorageOperation]) async throws {
        guard state.withLock({ $0.canLoseItems }) else {
            let mark = StorageOperation.write(key: MirrorMark.key, data: MirrorMark.complete.data)
            _ = try await callMirror { try await mirror.apply(StorageBatch(operations + [mark])) }
            return state.withLock { state in
                state.wasReplaced()
                state.mark = .complete
            }
        }
        try await write(.incomplete)
        state.withLock { $0.beginReplacement() }
        try await apply(toMirror: operations)
        state.withLock { $0.wasReplaced() }
        if let mark = state.withLock({ $0.markAfterWrite }) { try await write(mark) }
    }

    private func copyInParts(_ keys: [CacheKey]) async throws -> Int {
        var (remaining, size, count) = (keys[...], PartSize(), 0)
        while !remaining.isEmpty {
            let part = size.next(of: &remaining)
            count += try await lock.withLock { try await copy(part, &size) }
        }
        return count
    }
}
