import Bodega
import Logging

extension StorePipeline {

    /// Follows what others change in the engine, if the engine tells. It is called once, before the items are read.
    ///
    /// - Returns: The task that follows. It ends with the pipeline.
    nonisolated func followChanges() -> Task<Void, Never>? {
        guard let engine = records.engine as? any ProcessObservableEngine else { return nil }
        let changes = engine.changes()
        return Task { [weak self] in
            // What was missed because of an error is made up for with the next change.
            var hasMissed = false
            do {
                for try await change in changes {
                    guard let self else { return }
                    do {
                        try await refresh(hasMissed ? .everything : change)
                        hasMissed = false
                    } catch {
                        hasMissed = true
                        boutiqueLogger.warning(
                            "A change of others could not be read. It is made up for with the next one.",
                            metadata: ["error": "\(error)"]
                        )
                    }
                }
            } catch {
                boutiqueLogger.error(
                    "A store does not follow the changes of others any longer. Call reload() to see them.",
                    metadata: ["error": "\(error)"]
                )
            }
        }
    }

    /// Reads what others have changed, in its turn.
    private func refresh(_ change: ProcessChange) async throws {
        try await perform(
            .exclusive { [self] in
                guard live.state.isLoaded else { return }
                try await resolveFailure()
                if case .items(let keys) = change, try await refresh(keys) { return }
                live.show(try await records.load())
            },
            evenUnloaded: true
        )
    }

    /// Reads the records under some keys.
    ///
    /// - Returns: `false`, with nothing done, if it takes a look at all records to tell what has changed, because some
    ///   are not where they belong.
    private func refresh(_ keys: [CacheKey]) async throws -> Bool {
        var map = live.map
        var inserted: [(key: CacheKey, item: Item)] = []
        var gone = Set(keys)
        let found = try await records.load(Array(gone))
        guard !map.hasDisplacedItems, !map.hasDuplicates else { return false }
        for key in keys { map.withdrawReport(of: key) }
        for (key, record) in found {
            switch record {
            case .undecodable(let error):
                map.report(error)
            case .item(let item, let itemKey, _):
                guard itemKey == key else { return false }
                inserted.append((key, item))
                gone.remove(key)
            }
        }
        if gone.contains(where: { $0.kind != .hashed }) { return false }
        // In the order in which they were told, so that new items are in the order in which they were written.
        let places = Dictionary(keys.enumerated().map { ($1, $0) }) { first, _ in first }
        inserted.sort { places[$0.key, default: 0] < places[$1.key, default: 0] }
        let removed = keys.filter { gone.remove($0) != nil }
        let changes: [StoreChange<Item>] =
            (inserted.isEmpty ? [] : [.insert(keys: inserted.map { $0.key }, items: inserted.map { $0.item })])
            + (removed.isEmpty ? [] : [.remove(removed)])
        live.apply([changes], map)
        return true
    }
}
