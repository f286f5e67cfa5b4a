import Bodega
import Foundation

extension StorePipeline {

    /// Fetches the reported records, in a turn of its own.
    func undecodableData() async throws -> [(key: CacheKey, data: Data)] {
        var found: [(key: CacheKey, data: Data)] = []
        try await perform(
            .exclusive { [self] in
                try await resolveFailure()
                found = try await records.fetch(model.exceptions.reported.compactMap { $0.key }).records
            })
        return found
    }

    /// Removes reported records, in a turn of its own, except those that another program has repaired.
    func removeUndecodable(_ keys: [CacheKey]?) async throws {
        try await perform(
            .exclusive { [self] in
                try await resolveFailure()
                let reported = model.exceptions.reported.compactMap { $0.key }
                let requested = keys.map { Set($0).intersection(reported) } ?? Set(reported)
                var repaired: Set<CacheKey> = []
                for case (let key, .item(_, let itemKey, _)) in try await records.load(Array(requested))
                where !model.exceptions.isDuplicate(key, of: itemKey) {
                    repaired.insert(key)
                }
                let removal = await result {
                    _ = try await records.apply(requested.subtracting(repaired).map { .remove(key: $0) })
                }
                if case .failure = removal { renewOrigin() }
                let shown = await result {
                    if !repaired.isEmpty { return show(try await records.load()) }
                    // If the engine's batches are not atomic, a removal that failed may have removed some records.
                    let remaining = try await records.engine.fetchKeys(among: Array(requested))
                    var exceptions = model.exceptions
                    for key in requested.subtracting(remaining) { exceptions.withdrawReport(of: key) }
                    model.change([], exceptions).show()
                }
                if case .failure = shown { reloadSoon() }
                try removal.get()
                try shown.get()
            })
    }
}
