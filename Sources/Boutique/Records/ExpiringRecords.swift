import Bodega

/// The times at which the records of a store expire, if its engine lets items expire.
///
/// The engine reports them when it reads or writes a record in a ``call(needsOriginal:)``. A write that fails has
/// reported a time that does not hold, so the earliest one counts, and the store asks the engine when it has passed.
/// The lock of `state` guards everything.
final class ExpiringRecords: Sendable {
    fileprivate struct Entry {
        let key: CacheKey
        let time: Int64
    }

    /// Returns the time of the engine. A structure, because a function that passes through generic code is wrapped
    /// again each time.
    private struct Clock {
        let now: @Sendable () -> Int64
    }

    private struct State {
        var times: [CacheKey: Int64] = [:]
        /// A binary heap, the earliest entry first. An entry whose time is not that of its key is skipped.
        var heap: [Entry] = []
        var clock: Clock?
    }

    private let state = Locked(State())

    /// Creates a call of the engine, in which it reports the times.
    func call(needsOriginal: Bool = false) -> InnerCall {
        InnerCall(needsOriginal: needsOriginal, expiring: { [self] in note($0) })
    }

    private func note(_ item: ItemExpiry) {
        if item.time == .max { return }
        state.withLock { state in
            if state.clock == nil { state.clock = Clock(now: item.now) }
            if let known = state.times[item.key], known <= item.time { return }
            state.times[item.key] = item.time
            state.heap.insert(Entry(key: item.key, time: item.time))
        }
    }

    /// Returns the keys of the records that may have expired, and forgets their times. Reading those that have not
    /// reports them again.
    func takeExpired() -> Set<CacheKey> {
        // The clock is the caller's, so it is not called under the lock.
        guard let now = state.withLock({ $0.clock })?.now() else { return [] }
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
