import Bodega

/// What a store itself has changed last, among the changes that a history tells.
struct OwnChanges: Sendable {
    /// The keys whose last change is an own one, unless that has replaced what others had written.
    private(set) var keys: Set<CacheKey> = []
    /// Those of them under which there was nothing any more before, because others had removed it.
    private(set) var removedBefore: Set<CacheKey> = []
    /// Whether there are any own changes, also such as others have changed again.
    private(set) var exist = false

    private var writtenByOthers: Set<CacheKey> = []
    private var removedByOthers: Set<CacheKey> = []

    /// Adds the change that comes next.
    mutating func add(_ change: StorageChange, isOwn: Bool) {
        if isOwn {
            exist = true
            // What others wrote there is gone, so there is nothing to put back but what is older still.
            if writtenByOthers.contains(change.key) { return }
            keys.insert(change.key)
            if removedByOthers.contains(change.key) { removedBefore.insert(change.key) }
            return
        }
        keys.remove(change.key)
        removedBefore.remove(change.key)
        switch change.kind {
        case .removed:
            removedByOthers.insert(change.key)
            writtenByOthers.remove(change.key)
        case .written:
            removedByOthers.remove(change.key)
            writtenByOthers.insert(change.key)
        }
    }
}
