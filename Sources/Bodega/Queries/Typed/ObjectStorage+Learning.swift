import Foundation

extension ObjectStorage {

    /// Finds out with stored objects whether a query can use the indexes that the type declares.
    package func learnFromStoredObjects(for query: Query<Object>) async throws {
        try await learnFromStoredObjects()
        if query.search != nil { try await examineStoredTexts() }
    }

    /// Finds out, once, whether the first objects have texts that are not those in their records, because they were
    /// written by another version of the type. What this version encodes does not show that.
    private func examineStoredTexts() async throws {
        guard let coder = coder as? JSONObjectCoder, coder.trusts.trustsSearch(of: Object.self),
            !hasExaminedTexts.withLock({ $0 })
        else { return }
        let sample = try await firstRecords(of: .all(after: nil))
        for data in sample {
            do {
                let object = try coder.decode(Object.self, from: data)
                if !SearchExperiment<Object>(coder: coder).agrees(object, with: data) {
                    coder.trusts.distrustSearch(of: Object.self)
                }
            } catch {
                // The query that reads this record reports it.
                continue
            }
        }
        if !sample.isEmpty { hasExaminedTexts.withLock { $0 = true } }
    }

    /// Finds out with stored objects whether queries can use the indexes that the type declares, unless it is known.
    ///
    /// Objects that are encoded show it, too, see ``IndexTrusts``. So this reads only what another process has written.
    package func learnFromStoredObjects() async throws {
        guard let coder = coder as? JSONObjectCoder, !hasSampled.withLock({ $0 }),
            !coder.trusts.isComplete(for: Object.self), !Object.storageIndexes.isEmpty
        else { return }
        var isEmpty = true
        for scan in [StorageScan.all(after: nil)] + (try await indexScans()) {
            if coder.trusts.isComplete(for: Object.self) { break }
            let sample = try await firstRecords(of: scan)
            if !sample.isEmpty { isEmpty = false }
            for data in sample where !coder.trusts.isComplete(for: Object.self) { learn(from: data, coder) }
        }
        if !isEmpty { hasSampled.withLock { $0 = true } }
    }

    /// Scans of the items that have a value in an index.
    private func indexScans() async throws -> [StorageScan] {
        try await StorageReader(storage).fetchIndexes().map {
            .range($0, from: .start, to: .before(.none), isDescending: false, after: nil)
        }
    }

    private func firstRecords(of scan: StorageScan) async throws -> [Data] {
        let limit = if case .all = scan { 16 } else { 1 }
        let records = Locked<[Data]>([])
        try await StorageReader(storage, options: ReadOptions(omitsUnreadable: true)).scan([scan]) {
            records.withLock { $0 = [] }
            return { _, item in
                records.withLock { records in
                    records.append(item.data)
                    return records.count < limit
                }
            }
        }
        return records.withLock { $0 }
    }

    private func learn(from data: Data, _ coder: JSONObjectCoder) {
        do {
            coder.trusts.learn(from: try coder.decode(Object.self, from: data), coder: coder)
        } catch {
            // The query that reads this record reports it.
            return
        }
    }
}
