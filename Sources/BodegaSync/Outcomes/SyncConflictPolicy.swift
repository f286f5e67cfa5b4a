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
    /// - Parameter merge: Returns the item's bytes; `nil` to remove it. It must return the same for the same versions.
    public static func custom(_ merge: @escaping @Sendable (SyncVersions) -> Data?) -> SyncConflictPolicy {
        SyncConflictPolicy { MergeResult(data: merge($0), losses: []) }
    }
}
