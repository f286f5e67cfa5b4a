import Bodega
import BodegaSync
import Foundation

func openCounters(of sync: StorageSync) async throws -> SyncedStorageEngine {
    let policy = SyncConflictPolicy.custom { versions in
        // The larger number wins.
        [versions.local, versions.remote].compactMap { $0 }.max { left, right in
            (Int(String(decoding: left, as: UTF8.self)) ?? 0) < (Int(String(decoding: right, as: UTF8.self)) ?? 0)
        }
    }
    return try await sync.collection(named: "counters", policy: policy)
}

func listConflicts(of sync: StorageSync) async throws {
    for stored in try await sync.conflicts() {
        for loss in stored.conflict.losses {
            let lost = loss.lost.map { String(decoding: $0, as: UTF8.self) } ?? "nothing"
            print("\(loss.path) is not \(lost), as the \(loss.side.rawValue) version has it.")
        }
        try await sync.removeConflict(stored.id)
    }
}
