import Foundation

extension ScopedStorageEngine {

    public func apply(_ stream: StorageByteStream, key: CacheKey) async throws -> StorageAnswer<BatchOutcome> {
        try scope.require(.write, "write items")
        if !hidesItems { return try await base.apply(stream, key: key) }
        return try await apply(StorageBatch([.write(key: key, data: stream.data())]))
    }

    public func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        try scope.require(.write, "write items")
        if !hidesItems { return try await base.apply(batch) }
        guard base.traits.contains(.conditional) else {
            throw StorageError(
                .invalidArgument,
                """
                \(type(of: base)) has no conditional batches, so a scope with a filter can't be kept while others \
                write. Use an engine that has them, or a scope without a filter.
                """)
        }
        var attempts = ConditionalAttempts()
        while true {
            let stored = try await checked(batch)
            var answer = try await base.apply(stored.batch)
            // It is a place in the log of the base.
            answer.value.commit = nil
            if answer.value.wasApplied { return answer }
            // Neither the caller's conditions nor others were met.
            if !stored.isMet { return answer }
            try Task.checkCancellation()
            try attempts.fail(stored.batch.conditions?.first?.key)
        }
    }

    /// The batch for the base: with conditions that what was checked is still true.
    ///
    /// - Returns: The batch, and whether the caller's conditions are met. If they are not, it is not applied.
    private func checked(_ batch: StorageBatch) async throws -> (batch: StorageBatch, isMet: Bool) {
        var stored = batch
        let before = try await items(concerning: batch)
        stored.conditions = before.keys.map { StorageCondition(key: $0, data: before.data[$0]) }
        for condition in batch.conditions ?? [] {
            let data = before.data[condition.key].flatMap { scope.contains($0) ? $0 : nil }
            guard data == condition.data else {
                // Not met either: it makes a cache or a mirror inside discard the item that the caller has read.
                let stored = before.data[condition.key]
                let unmet = StorageCondition(key: condition.key, data: stored == nil ? Data() : nil)
                return (StorageBatch([], if: [unmet], origin: batch.origin), false)
            }
        }
        var items = before.data
        stored.operations = []
        for operation in batch.operations {
            switch operation {
            case .write(let key, let data):
                // The order of the checks shows a client the reason that it can do something about.
                guard scope.contains(data) else {
                    throw StorageError(
                        .permissionDenied, "The item to write is not in the scope of this engine.", key: key)
                }
                guard items[key].map(scope.contains) ?? true else {
                    throw StorageError(.permissionDenied, "An item outside of the scope has this key.", key: key)
                }
                items[key] = data
                stored.operations.append(operation)
            case .remove(let key):
                guard let data = items[key], scope.contains(data) else { continue }
                items[key] = nil
                stored.operations.append(operation)
            case .removeAll:
                for (key, data) in items where scope.contains(data) {
                    items[key] = nil
                    stored.operations.append(.remove(key: key))
                }
            }
        }
        return (stored, true)
    }

    /// The items that a batch reads or changes, and their keys, also of those that don't exist.
    private func items(concerning batch: StorageBatch) async throws -> (keys: Set<CacheKey>, data: [CacheKey: Data]) {
        var keys = Set((batch.conditions ?? []).map(\.key))
        var removesAll = false
        for operation in batch.operations {
            switch operation {
            case .write(let key, _), .remove(let key): keys.insert(key)
            case .removeAll: removesAll = true
            }
        }
        let options = ReadOptions(needsOriginal: true)
        var data: [CacheKey: Data] = [:]
        if removesAll {
            let found = Locked<[StorageItem]>([])
            _ = try await concealing {
                try await base.scan(ScanRequest(options: options)) {
                    found.withLock { $0 = [] }
                    return { _, item in
                        if scope.contains(item.data) { found.withLock { $0.append(item) } }
                        return true
                    }
                }
            }
            for item in found.withLock({ $0 }) { data[item.key] = item.data }
            keys.formUnion(data.keys)
        }
        let others = keys.filter { data[$0] == nil }
        if !others.isEmpty {
            let request = FetchRequest(Array(others), options: options)
            for item in try await concealing({ try await base.fetch(request) }).value { data[item.key] = item.data }
        }
        return (keys, data)
    }
}
