import Bodega
import Foundation

extension StorePipeline {

    /// Fetches the reported records, in its turn.
    func undecodableData() async throws -> [(key: CacheKey, data: Data)] {
        var found: [(key: CacheKey, data: Data)] = []
        try await perform(
            .exclusive { [self] in
                try await resolveFailure()
                found = try await records.engine.fetch(keys: model.exceptions.reported.compactMap { $0.key })
            })
        return found
    }

    /// Removes reported records, in its turn, unless somebody has repaired them.
    func removeUndecodable(_ keys: [CacheKey]?) async throws {
        try await perform(
            .exclusive { [self] in
                try await resolveFailure()
                let reported = model.exceptions.reported.compactMap { $0.key }
                let wanted = keys.map { Set($0).intersection(reported) } ?? Set(reported)
                var repaired: Set<CacheKey> = []
                for case (let key, .item(_, let itemKey, _)) in try await records.load(Array(wanted))
                where !model.exceptions.isDuplicate(key, of: itemKey) {
                    repaired.insert(key)
                }
                let removal = await result {
                    _ = try await records.apply(wanted.subtracting(repaired).map { .remove(key: $0) })
                }
                if case .failure = removal { renewOrigin() }
                let shown = await result {
                    if !repaired.isEmpty { return show(try await records.load()) }
                    // A removal that failed may have removed some, with an engine whose batches are not atomic.
                    let left = try await records.engine.fetchKeys(among: Array(wanted))
                    var exceptions = model.exceptions
                    for key in wanted.subtracting(left) { exceptions.withdrawReport(of: key) }
                    model.apply([], exceptions)
                }
                if case .failure = shown {
                    mustReload = true
                    follower.catchUp()
                }
                try removal.get()
                try shown.get()
            })
    }
}
