extension StorageQuery {

    /// Passes on all matches, in any order.
    ///
    /// - Parameters:
    ///   - engine: The engine.
    ///   - begin: Returns the receiver of the matches. It is called again if the engine has to begin again.
    package func forEachMatch(
        in engine: StorageReader,
        _ begin: @escaping @Sendable () -> @Sendable (Match) -> Void
    ) async throws {
        var unordered = self
        unordered.order = []
        unordered.search?.relevance = nil
        let plan = try await unordered.plan(on: engine, limit: .max, after: nil)
        try await engine.scan(plan.scans, within: plan.within) { [unordered] in
            let receive = begin()
            return { _, entry in
                _ = try unordered.match(entry, index: nil, isMatch: plan.isMatch(entry), receive)
                return true
            }
        }
    }

    /// Counts the matches.
    ///
    /// If the whole condition is about one member with an index, only items about which the index can be wrong are
    /// read.
    package func count(in engine: StorageReader) async throws -> Int {
        if let index = try await countingIndex(of: engine) { return try await count(in: engine, by: index) }
        let count = Locked(0)
        try await forEachMatch(in: engine) {
            count.withLock { $0 = 0 }
            return { _ in count.withLock { $0 += 1 } }
        }
        return count.withLock { $0 }
    }

    /// The index that counts the matches, `nil` if they are read.
    package func countingIndex(of engine: StorageReader) async throws -> StorageIndex? {
        guard countsByIndex else { return nil }
        // An index that is not for text knows about more items.
        return try await engine.fetchIndexes().filter(condition.isOnly).min { !$0.isForText && $1.isForText }
    }

    private func count(in engine: StorageReader, by index: StorageIndex) async throws -> Int {
        let narrowing = condition.narrowing(by: index.first)
        let certain = narrowing.certain
        // What the index counts, corrected by the items that it may have counted wrongly.
        let correction = Locked(0)
        let unknown = narrowing.possible.subtracting(certain)
        let doubtful = certain.approximateBounds.union(narrowing.possible.approximateBounds).subtracting(unknown)
        let use = IndexUse(of: index, certain)
        var scans: [StorageScan] = [.irregular(index)] + use.scans(of: unknown)
        scans += doubtful.intersection(.values).ranges.map { .approximate(index, from: $0.lower, to: $0.upper) }
        let counted = try await engine.count(use.scans(of: certain), reading: scans) { [examine] in
            correction.withLock { $0 = 0 }
            return { _, entry in
                let isCounted = entry.sortKey.map(certain.contains) ?? false
                let isMatch = try examine(entry) { _ in } != nil
                if isMatch != isCounted { correction.withLock { $0 += isMatch ? 1 : -1 } }
                return true
            }
        }
        return counted + correction.withLock { $0 }
    }
}

extension QueryCondition {
    /// Whether the condition is about the first member of an index of all items, and nothing else.
    fileprivate func isOnly(about index: StorageIndex) -> Bool {
        if !index.constants.isEmpty { return false }
        return switch self {
        case .and(let left, let right), .or(let left, let right):
            left.isOnly(about: index) && right.isOnly(about: index)
        case .not(let condition): condition.isOnly(about: index)
        case .member(let path, _, _, let needsTextIndex):
            index.first.isOver(path.text) && (!needsTextIndex || index.isForText)
        case .constant: true
        case .opaque: false
        }
    }
}
