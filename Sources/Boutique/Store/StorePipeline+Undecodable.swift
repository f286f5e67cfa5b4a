import Bodega
import Foundation

extension StorePipeline {

    /// Fetches the records that could not be decoded, in its turn.
    func undecodableData() async throws -> [(key: CacheKey, data: Data)] {
        var found: [(key: CacheKey, data: Data)] = []
        try await perform(
            .exclusive { [self] in
                found = try await records.engine.fetch(keys: live.irregular.undecodable.compactMap(\.key))
            })
        return found
    }

    /// Removes records that could not be decoded, in its turn.
    func removeUndecodable(_ keys: [CacheKey]?) async throws {
        try await perform(
            .exclusive { [self] in
                var irregular = live.irregular
                let all = irregular.undecodable.compactMap(\.key)
                let removed = keys.map { $0.filter(irregular.isUndecodable) } ?? all
                try await records.engine.remove(keys: removed)
                for key in removed { irregular.remove(undecodable: key) }
                live.apply([], irregular)
            })
    }
}
