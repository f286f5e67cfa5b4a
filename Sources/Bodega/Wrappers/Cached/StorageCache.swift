import Foundation

/// The items that a ``CachedStorageEngine`` holds, and the calls that are under way.
///
///      read ──► hit: the item
///        ├────► a load of the key is under way: wait for its result
///        ├────► a write of the key is under way, or the cache is suspended: read from the base, keep nothing
///        └────► miss: begin a load ──► read from the base ──► end the load: keep the item
///
///      write ──► begin ──► write to the base ──► end: keep the written items
///      change by another writer ──► invalidate
///
/// 1. What begins a write or invalidates a key also detaches its load: the load's readers get its result, since they
///    began before, but the item is not kept and later readers don't wait for it.
/// 2. While writes of a key are under way, no load of it begins. If two of them overlap, neither keeps its item,
///    because the base may have applied them in either order.
/// 3. A write of all items, or of more than ``maximumKeys`` keys, suspends the cache until it has ended.
/// 4. The cache of an observable engine is suspended until its feed is read, and while it can't be.
///
/// The lock of `state` guards everything, also the readers that wait for a load. Readers are resumed outside of it.
final class StorageCache: Sendable {

    /// The maximum number of keys that a write is tracked by.
    static let maximumKeys = 1_000

    /// What a write changes.
    enum Change {
        /// The written items, `nil` for removed ones.
        case items([CacheKey: Data?])
        case everything
    }

    private let state: Locked<State>

    init(limit: StorageLimit) {
        state = Locked(State(contents: CacheContents(limit: limit)))
    }

    /// The numbers of items, bytes, hits and misses.
    var statistics: StorageCacheStatistics {
        state.withLock { state in
            let size = state.contents.size
            return StorageCacheStatistics(
                count: size.count, byteCount: size.bytes, hitCount: state.hitCount, missCount: state.missCount)
        }
    }
}

extension StorageCache {
    /// The number of entries, also of those without an item, and the memory that they take.
    var heldSize: StorageSize { state.withLock { $0.contents.total } }
}

// Reading.
extension StorageCache {

    /// How a read continues.
    enum Reading {
        case hit(Data)
        /// Wait for another reader's load.
        case wait(StorageCacheLoad)
        /// Read from the base and end the load.
        case load(StorageCacheLoad)
        /// Read from the base.
        case bypass
    }

    func beginReading(_ key: CacheKey) -> Reading {
        state.withLock { state in
            if state.suspensions == 0, let data = state.contents.read(key) {
                state.hitCount += 1
                return .hit(data)
            }
            if let load = state.loads[key] { return .wait(load) }
            state.missCount += 1
            return state.beginLoad(key).map { .load($0) } ?? .bypass
        }
    }

    /// Returns the items under keys if all are cached, otherwise `nil` and the loads of those that are not.
    func beginReading(_ keys: [CacheKey]) -> (items: [(key: CacheKey, data: Data)]?, loads: [StorageCacheLoad]) {
        state.withLock { state in
            var items: [(key: CacheKey, data: Data)] = []
            if state.suspensions == 0 {
                for key in keys {
                    guard let data = state.contents.read(key) else { break }
                    items.append((key, data))
                }
                if items.count == keys.count {
                    state.hitCount += keys.count
                    return (items, [])
                }
            }
            state.missCount += keys.count
            let loads = keys.prefix(Self.maximumKeys).compactMap { key in
                state.contents.contains(key) || state.loads[key] != nil ? nil : state.beginLoad(key)
            }
            return (nil, loads)
        }
    }

    /// Ends a load, and keeps its item if there is one and it has not changed since.
    ///
    /// - Parameters:
    ///   - load: The load.
    ///   - result: The item or the error.
    ///   - isKept: Whether the item can be kept. One that comes from a copy can't.
    func endLoad(_ load: StorageCacheLoad, _ result: Result<Data?, any Error>, isKept: Bool = true) {
        let readers = state.withLock { state in
            if state.loads[load.key] === load {
                state.loads[load.key] = nil
                if isKept, case .success(let data?) = result { state.contents.insert(data.copied(), key: load.key) }
            }
            return load.end(result)
        }
        for reader in readers { reader.resume(returning: result) }
    }

    /// Waits for the end of another reader's load.
    func result(of load: StorageCacheLoad) async throws -> Result<Data?, any Error> {
        let reader = UUID()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { _ in load.add(continuation, as: reader, isCancelled: Task.isCancelled) }
                switch result {
                case .success(let result?): continuation.resume(returning: result)
                case .success(nil): break
                case .failure(let error): continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            state.withLock { _ in load.remove(reader) }?.resume(throwing: CancellationError())
        }
    }
}

// Writing.
extension StorageCache {

    func beginWrite(_ change: Change) {
        state.withLock { state in
            switch change {
            case .items(let items):
                for key in items.keys { state.beginWrite(key) }
            case .everything: state.suspend()
            }
        }
    }

    /// Ends a write, and keeps its items if it was applied.
    func endWrite(_ change: Change, wasApplied: Bool) {
        state.withLock { state in
            switch change {
            case .items(let items):
                for (key, data) in items {
                    guard state.endWrite(key), wasApplied, let data else { continue }
                    state.contents.insert(data.copied(), key: key)
                }
            case .everything: state.suspensions -= 1
            }
        }
    }

    /// Removes items that others may have changed.
    func invalidate(_ keys: some Sequence<CacheKey>) {
        state.withLock { state in
            for key in keys { state.invalidate(key) }
        }
    }

    /// Suspends the cache, which is then empty.
    func suspend() { state.withLock { $0.suspend() } }

    /// Ends a suspension.
    /// Forgets all items.
    func clear() {
        state.withLock { state in
            state.suspend()
            state.suspensions -= 1
        }
    }

    func resume() { state.withLock { $0.suspensions -= 1 } }
}

extension Data {
    /// Bytes of their own. A slice would keep the whole buffer that it belongs to, which no limit counts.
    fileprivate func copied() -> Data { withUnsafeBytes { Data($0) } }
}
