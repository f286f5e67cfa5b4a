public import Bodega
public import Foundation

/// How the versions of an item are merged that this replica and others have changed.
public struct SyncConflictPolicy: Sendable {
    let merge: @Sendable (SyncVersions) -> MergeResult

    /// Merges versions.
    package func merged(_ versions: SyncVersions) -> MergeResult { merge(versions) }

    /// Merges JSON objects property by property. Where both have changed one, the change of this replica is taken: it
    /// comes later in the order of the remote database. A change wins over a removal.
    ///
    /// Items that are no JSON objects are one property.
    public static let laterWins = SyncConflictPolicy { versions in
        JSONMerge.merge(base: versions.base, local: versions.local, remote: versions.remote, preferring: .local)
    }

    /// Merges JSON objects property by property. Where both have changed one, the change that the remote database has
    /// already is taken. A change wins over a removal.
    ///
    /// Items that are no JSON objects are one property.
    public static let earlierWins = SyncConflictPolicy { versions in
        JSONMerge.merge(base: versions.base, local: versions.local, remote: versions.remote, preferring: .remote)
    }

    /// Merges with a closure of the app.
    ///
    /// If the closure returns one of the versions, or what ``laterWins`` or ``earlierWins`` would, what is not in it is
    /// kept as a loss, see ``StorageSync/conflicts()``. A version of its own may contain both changes, so it has none.
    ///
    /// - Parameter merge: Returns the item's bytes; `nil` to remove it. It must return the same for the same versions.
    public static func custom(_ merge: @escaping @Sendable (SyncVersions) -> Data?) -> SyncConflictPolicy {
        SyncConflictPolicy { versions in
            let data = merge(versions)
            return MergeResult(data: data, losses: losses(of: versions, in: data))
        }
    }

    private static func losses(of versions: SyncVersions, in data: Data?) -> [MergeLoss] {
        for policy in [laterWins, earlierWins] {
            let result = policy.merge(versions)
            if result.data == data { return result.losses }
        }
        if data == versions.local { return [MergeLoss(path: "$", lost: versions.remote, side: .remote)] }
        if data == versions.remote { return [MergeLoss(path: "$", lost: versions.local, side: .local)] }
        return []
    }
}
