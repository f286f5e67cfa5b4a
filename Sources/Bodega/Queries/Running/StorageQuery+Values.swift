extension StorageQuery {
    /// The number of values up to which an index counts them, each with two reads. Reading all items takes less time
    /// for more.
    static var maximumValues: Int { 1_000 }

    /// Counts the matches for each value of a member, by an index over it.
    ///
    /// One item is read for each key in the index, and those about which the index can be wrong. The index counts the
    /// others. So all reads must answer from one moment.
    ///
    /// - Parameters:
    ///   - index: The index, over one member. Matches with the same key in it have the same value.
    ///   - hasAbsentValue: Whether this is also so for items without the member.
    ///   - value: The value of a match.
    /// - Returns: `nil` if the index has too many keys, or some that several values share.
    func countValues<Value: Hashable & Sendable>(
        in engine: StorageReader, by index: StorageIndex, hasAbsentValue: Bool,
        _ value: @escaping @Sendable (Match) -> Value
    ) async throws -> [Value: Int]? {
        let narrowing = condition.narrowing(by: index.first)
        var certain = narrowing.certain
        if !hasAbsentValue { certain = certain.intersection(.values) }
        let doubtful = try await doubtfulValues(
            in: engine, by: index, certain, unknown: narrowing.possible.subtracting(certain), value)
        var counts = doubtful.counts
        var number = 0
        for range in certain.intersection(.values).ranges + certain.intersection(.none).ranges {
            var lower = range.lower
            while let sample = try await sample(
                in: engine, by: index, from: lower, to: range.upper, except: doubtful.keys, value)
            {
                number += 1
                guard number <= Self.maximumValues, let value = sample.value, sample.key.isOfOneNumber else {
                    return nil
                }
                let ofKey = StorageSortKeyRanges(sample.key)
                let count = try await engine.count(IndexUse(of: index, ofKey).scans(of: ofKey), upTo: .max)
                counts[value, default: 0] += count - doubtful.countedKeys[sample.key, default: 0]
                if sample.key == .none { break }
                lower = .after(sample.key)
            }
        }
        return counts.filter { $1 > 0 }
    }

    /// The first item with a key in a range.
    private func sample<Value: Sendable>(
        in engine: StorageReader, by index: StorageIndex, from lower: StorageSortKeyBound,
        to upper: StorageSortKeyBound, except doubtful: Set<CacheKey>, _ value: @escaping @Sendable (Match) -> Value
    ) async throws -> (key: StorageSortKey, value: Value?)? {
        let found = Locked<[(StorageSortKey, Value?)]>([])
        let scan = StorageScan.range(index, from: lower, to: upper, isDescending: false, after: nil)
        try await engine.scan([scan]) { [examine] in
            found.withLock { $0 = [] }
            return { _, entry in
                guard let key = entry.sortKey, !doubtful.contains(entry.key) else { return true }
                found.withLock { $0 = [(key, nil)] }
                _ = try examine(entry) { match in
                    let value = value(match)
                    found.withLock { $0 = [(key, value)] }
                }
                return false
            }
        }
        return found.withLock { $0.first }
    }

    /// Counts the values of the items about which an index can be wrong.
    private func doubtfulValues<Value: Hashable & Sendable>(
        in engine: StorageReader, by index: StorageIndex, _ certain: StorageSortKeyRanges,
        unknown: StorageSortKeyRanges, _ value: @escaping @Sendable (Match) -> Value
    ) async throws -> DoubtfulValues<Value> {
        let approximate = certain.approximated.subtracting(unknown).intersection(.values)
        let scans =
            [.irregular(index)] + IndexUse(of: index, unknown).scans(of: unknown)
            + approximate.ranges.map { .approximate(index, from: $0.lower, to: $0.upper) }
        let doubtful = Locked(DoubtfulValues<Value>())
        try await engine.scan(scans) { [examine] in
            doubtful.withLock { $0 = DoubtfulValues() }
            return { _, entry in
                if let key = entry.sortKey, certain.contains(key) {
                    doubtful.withLock {
                        $0.keys.insert(entry.key)
                        $0.countedKeys[key, default: 0] += 1
                    }
                }
                _ = try examine(entry) { match in
                    let value = value(match)
                    doubtful.withLock { $0.counts[value, default: 0] += 1 }
                }
                return true
            }
        }
        return doubtful.withLock { $0 }
    }
}

extension StorageSortKey {
    /// Whether all numbers with the key are equal. Beyond 2^53, several integers have one nearest `Double`.
    fileprivate var isOfOneNumber: Bool {
        switch self {
        case .integer(let integer): integer.magnitude < 1 << 53
        case .real(let real): real.magnitude < 0x1p53
        case .text, .none: true
        }
    }
}

/// What is known about items that an index can count wrongly.
private struct DoubtfulValues<Value: Hashable & Sendable>: Sendable {
    /// The number of items with each value.
    var counts: [Value: Int] = [:]
    /// The items that the index counts with certain keys, and how often it does.
    var keys: Set<CacheKey> = []
    var countedKeys: [StorageSortKey: Int] = [:]
}
