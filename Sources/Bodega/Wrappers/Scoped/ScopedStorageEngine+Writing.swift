import Foundation

extension ScopedStorageEngine {

    public func apply(_ stream: StorageByteStream, key: CacheKey) async throws -> StorageAnswer<BatchOutcome> {
        try scope.require(.write, "write items")
        if !hidesItems { return try await base.apply(stream, key: key) }
        return try await apply(StorageBatch([.write(key: key, data: stream.data())]))
    }

    public func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        try scope.require(.write, "write items")
        // Whether they are met shows what is stored.
        if batch.conditions?.isEmpty == false || batch.basis != nil {
            try scope.require(.read, "make a write depend on what is stored")
        }
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
            let checked = try await checked(batch)
            var answer = try await base.apply(checked.batch)
            // It is a place in the log of the base.
            answer.value.commit = nil
            if answer.value.wasApplied { return answer }
            // Neither the caller's conditions nor others were met. A group repeats all of its batches.
            if !checked.isMet || batch.group != nil { return answer }
            try Task.checkCancellation()
            try attempts.fail(checked.batch.conditions?.first?.key)
        }
    }

    /// A batch for the base: with conditions that what was checked is still true.
    private struct CheckedBatch {
        var batch: StorageBatch
        /// Whether the caller's conditions are met. If they are not, the batch is not applied.
        var isMet = true
    }

    private func checked(_ batch: StorageBatch) async throws -> CheckedBatch {
        let before = try await items(concerning: batch)
        var checked = CheckedBatch(batch: batch)
        checked.batch.conditions = before.keys.map { StorageCondition(key: $0, data: before.data[$0]) }
        for condition in batch.conditions ?? [] {
            let data = before.data[condition.key].flatMap { scope.contains($0) ? $0 : nil }
            if data != condition.data { return unmet(batch, condition.key, before.data) }
        }
        if let basis = batch.basis {
            checked.batch.basis = try await scopedLog.place(at: basis)
            if checked.batch.basis == nil { return unmet(batch, before.keys.first ?? CacheKey(""), before.data) }
        }
        var items = before.data
        checked.batch.operations = []
        for operation in batch.operations {
            switch operation {
            case .write(let key, let data):
                // The order of the checks shows a client the reason that it can do something about.
                guard scope.contains(data) else {
                    throw StorageError(
                        .permissionDenied, "The item does not meet the filter for items that may be used here.",
                        key: key)
                }
                guard items[key].map(scope.contains) ?? true else {
                    throw StorageError(
                        .permissionDenied, "The key belongs to an item that may not be used here.", key: key)
                }
                items[key] = data
                checked.batch.operations.append(operation)
            case .remove(let key):
                guard let data = items[key], scope.contains(data) else { continue }
                items[key] = nil
                checked.batch.operations.append(operation)
            case .removeAll:
                for (key, data) in items where scope.contains(data) {
                    items[key] = nil
                    checked.batch.operations.append(.remove(key: key))
                }
            }
        }
        return checked
    }

    /// A batch that is not applied: it makes a cache or a mirror inside discard the item that the caller has read.
    ///
    /// - Parameters:
    ///   - batch: The batch that has an unmet condition.
    ///   - key: The key of the item of that condition.
    ///   - items: The stored items.
    private func unmet(_ batch: StorageBatch, _ key: CacheKey, _ items: [CacheKey: Data]) -> CheckedBatch {
        let condition = StorageCondition(key: key, data: items[key] == nil ? Data() : nil)
        var unmet = StorageBatch([], if: [condition], origin: batch.origin)
        (unmet.group, unmet.identifier) = (batch.group, batch.identifier)
        return CheckedBatch(batch: unmet, isMet: false)
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
