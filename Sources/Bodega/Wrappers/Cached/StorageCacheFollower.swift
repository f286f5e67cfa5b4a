import Foundation

/// Removes what other writers change from a cache.
///
/// 1. The cache is suspended from the beginning. The first read that needs the base starts the follower.
/// 2. The first attempt reads the cursor at the end of the feed and ends the suspension.
/// 3. Each signal of the engine makes the follower read the changes since its cursor. Those of its own origin are of
///    writes through the cache.
/// 4. If the changes can't be read, the cache is suspended until an attempt succeeds. If the feed does not reach back
///    to the cursor, the follower begins again with a new one; the suspension has emptied the cache.
///
/// Only the loop of the ``ChangeFollower`` changes the cursor.
final class StorageCacheFollower: Sendable {
    private let log: any StorageLog
    private let follower = ChangeFollower()
    let origin = StorageOrigin()
    private let hasBegun = Locked(false)
    private let cache: StorageCache

    /// Creates a follower, and suspends the cache.
    init(of log: any StorageLog, for cache: StorageCache) {
        (self.log, self.cache) = (log, cache)
        cache.suspend()
    }

    /// Starts to follow, if it has not yet.
    func begin() {
        let isFirst = hasBegun.withLock { hasBegun in
            defer { hasBegun = true }
            return !hasBegun
        }
        guard isFirst else { return }
        let position = Locked<StorageCursor?>(nil)
        follower.begin("the cache", logger: bodegaLogger) { [log, origin, cache] in
            do {
                while let cursor = position.withLock({ $0 }) {
                    guard let delta = try await log.fetchChanges(ChangesRequest(since: cursor, excluding: origin)).value
                    else { break }
                    cache.invalidate(delta.changes.lazy.filter { $0.origin != origin }.map(\.key))
                    position.withLock { $0 = delta.cursor }
                    if delta.isComplete { return }
                }
                if position.withLock({ $0 }) != nil {
                    position.withLock { $0 = nil }
                    cache.suspend()
                }
                let cursor = try await log.fetchCursor()
                position.withLock { $0 = cursor }
                cache.resume()
            } catch {
                if position.withLock({ $0 }) != nil {
                    position.withLock { $0 = nil }
                    cache.suspend()
                }
                throw error
            }
        }
        follower.follow(log.changeSignals(excluding: origin)) { [cache] in
            // The engine is closed.
            cache.suspend()
        }
    }
}
