import Bodega
import Foundation

/// The times at which the records of a store expire, if its engine lets items expire.
///
/// The engine reports them when it reads or writes a record. A later write may have failed, so the earliest time
/// counts, and the store asks the engine when it has passed.
/// The lock of `state` guards everything.
final class ExpiringRecords: Sendable {
    fileprivate struct Entry {
        let key: CacheKey
        let time: Int64
    }

    private struct State {
        var times: [CacheKey: Int64] = [:]
        /// A binary heap, the earliest entry first. An entry whose time is not that of its key is skipped.
        var heap: [Entry] = []
    }

    private let state = Locked(State())

    /// Notes when a record expires.
    func note(_ key: CacheKey, _ expiry: Date) {
        let time = Self.milliseconds(expiry, .toNearestOrEven)
        state.withLock { state in
            if let known = state.times[key], known <= time { return }
            state.times[key] = time
            state.heap.insert(Entry(key: key, time: time))
        }
    }

    /// Notes when records expire.
    func note(_ items: [StorageItem]) {
        for item in items { if let expiry = item.expiry { note(item.key, expiry) } }
    }

    /// Returns the keys of the records that may have expired, and forgets their times. Reading those that have not
    /// reports them again.
    ///
    /// - Parameter date: The time of the engine.
    func takeExpired(at date: Date) -> Set<CacheKey> {
        let now = Self.milliseconds(date, .down)
        return state.withLock { state in
            var keys: Set<CacheKey> = []
            while let first = state.heap.first, first.time <= now {
                state.heap.removeFirstOfHeap()
                if state.times[first.key] == first.time {
                    state.times[first.key] = nil
                    keys.insert(first.key)
                }
            }
            return keys
        }
    }

    private static func milliseconds(_ date: Date, _ rule: FloatingPointRoundingRule) -> Int64 {
        Int64(exactly: (date.timeIntervalSince1970 * 1_000).rounded(rule)) ?? .max
    }
}

// The steps of a binary heap (J. W. J. Williams, Algorithm 232: Heapsort, 1964).
extension [ExpiringRecords.Entry] {
    fileprivate mutating func insert(_ entry: Element) {
        append(entry)
        var place = count - 1
        while place > 0, self[place].time < self[(place - 1) / 2].time {
            swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    fileprivate mutating func removeFirstOfHeap() {
        swapAt(0, count - 1)
        removeLast()
        var place = 0
        while true {
            let children = (2 * place + 1)..<Swift.min(2 * place + 3, Swift.max(count, 2 * place + 1))
            guard let least = children.min(by: { self[$0].time < self[$1].time }), self[least].time < self[place].time
            else { return }
            swapAt(place, least)
            place = least
        }
    }
}
