import Foundation

/// The items of a cache, and the order of their eviction.
///
///     new item ──► recent ──► evicted if it was not read, and remembered in recentGhosts
///                    │ read
///                    ▼
///     remembered ──► frequent ──► evicted if it was not read again, and remembered in frequentGhosts
///                    ▲   │ read
///                    └───┘
///
/// 1. Both queues are first in, first out. A read only marks the item, which is why a hit is cheap.
/// 2. An eviction takes items from the front of a queue until one is not marked. Marked ones lose the mark and go to
///    the end of the frequent queue. Items that are read once, as by a scan, leave without displacing frequent ones.
/// 3. The recent queue gives up an item if its share of the capacity is at least the target, otherwise the frequent
///    one.
/// 4. A miss on a remembered key shows that its queue was too short, and moves the target. The item goes to the
///    frequent queue.
///
/// Sources: the queues are those of S3-FIFO (J. Yang et al., FIFO Queues are All You Need for Cache Eviction, SOSP
/// 2023). The target moves as in ARC (N. Megiddo and D. Modha, ARC: A Self-Tuning, Low Overhead Replacement Cache, FAST
/// 2003). All steps but an eviction, which is amortized, take constant time.
///
/// It is a value without a lock; ``StorageCache`` guards it.
struct CacheContents: Sendable {
    private struct Entry: Sendable {
        let key: CacheKey
        /// The item; `nil` if it was invalidated and has kept only its place.
        var data: Data?
        var isMarked = false
        var isFrequent: Bool

        // A long key takes no memory while the place is free.
        static let vacant = Entry(key: CacheKey(verbatim: ""), isFrequent: false)

        var size: StorageSize { CacheContents.cost(of: key, bytes: data?.count ?? 0) }
    }

    /// A queue of entries.
    private struct Queue: Sendable {
        var places = LinkedQueues<Entry>.Queue()
        var size = StorageSize()
    }

    /// The maximum number of marked items that an eviction moves before it takes the next one, marked or not.
    private static let maximumMoves = 1_000

    /// The number of entries without items from which on they are removed if there are more of them than others.
    private static let maximumVacant = 2_000

    /// The memory that an entry takes, in addition to the bytes of its key and its item: its places in the list and in
    /// the table, the objects around the bytes, and its part of what is remembered of evicted items. Measured on 64-bit
    /// Linux.
    static let overhead = 200

    private let limit: StorageLimit
    private var entries = LinkedQueues(vacant: Entry.vacant)
    private var places: [CacheKey: Int] = [:]
    private var recent = Queue()
    private var frequent = Queue()
    private var recentGhosts = CacheGhosts()
    private var frequentGhosts = CacheGhosts()
    /// The share of the capacity that the recent queue should have.
    private var target = 0.1

    init(limit: StorageLimit) { self.limit = limit }

    /// The number and the bytes of the items.
    private(set) var size = StorageSize()

    /// The number of entries, also of those that have kept only their place, and the memory that they take. The limits
    /// hold for it.
    var total: StorageSize { recent.size + frequent.size }

    /// What an item takes.
    static func cost(of key: CacheKey, bytes: Int) -> StorageSize {
        StorageSize(count: 1, bytes: overhead + key.identity.utf8.count + bytes)
    }

    /// Returns an item and marks it as read.
    mutating func read(_ key: CacheKey) -> Data? {
        guard let place = places[key] else { return nil }
        entries[place].isMarked = true
        return entries[place].data
    }

    /// Whether there is an item under a key. It is not marked.
    func contains(_ key: CacheKey) -> Bool {
        places[key].map { entries[$0].data != nil } ?? false
    }

    /// Adds or replaces an item, and evicts others until it fits. An item larger than the limit is not added.
    mutating func insert(_ data: Data, key: CacheKey) {
        invalidate(key)
        let cost = Self.cost(of: key, bytes: data.count)
        guard limit.allows(cost) else { return }
        if let place = places[key] {
            // The entry has its place among the entries, so only its bytes are added.
            while places[key] != nil, !limit.allows(total + StorageSize(count: 0, bytes: data.count)) { evict() }
            if places[key] == place {
                entries[place].data = data
                size += StorageSize(count: 1, bytes: data.count)
                changeQueue(of: place) { queue, _ in queue.size.bytes += data.count }
                return
            }
        }
        let isRemembered = adapt(to: key, share: limit.share(of: cost))
        while !limit.allows(total + cost) { evict() }
        let place = entries.add(Entry(key: key, data: data, isFrequent: isRemembered))
        places[key] = place
        link(place, isFrequent: isRemembered)
        size += StorageSize(count: 1, bytes: data.count)
    }

    /// Removes an item, which keeps its place in case it returns.
    mutating func invalidate(_ key: CacheKey) {
        guard let place = places[key], let data = entries[place].data else { return }
        entries[place].data = nil
        size -= StorageSize(count: 1, bytes: data.count)
        changeQueue(of: place) { queue, _ in queue.size.bytes -= data.count }
        removeVacant()
    }

    /// Removes all items.
    mutating func removeAll() {
        (entries, places, size) = (LinkedQueues(vacant: Entry.vacant), [:], StorageSize())
        (recent, frequent) = (Queue(), Queue())
    }

    /// Removes the entries that have kept only their place, if they are many. The limits alone would let them stay if
    /// there are none, or only large ones.
    private mutating func removeVacant() {
        guard places.count - size.count > max(size.count, Self.maximumVacant) else { return }
        for place in Array(places.values) where entries[place].data == nil {
            unlink(place)
            remove(place)
        }
    }
}

// Eviction.
extension CacheContents {

    /// Moves the target if the item of a key was evicted recently, and returns whether it was.
    private mutating func adapt(to key: CacheKey, share: Double) -> Bool {
        let hash = key.hashValue
        let (recent, frequent) = (limit.share(of: recentGhosts.size), limit.share(of: frequentGhosts.size))
        if recentGhosts.remove(hash) {
            target = min(target + share * max(1, frequent / recent), 1)
            return true
        }
        if frequentGhosts.remove(hash) {
            target = max(target - share * max(1, recent / frequent), 0)
            return true
        }
        return false
    }

    private mutating func evict() {
        for move in 0... {
            let isRecent = frequent.size.count == 0 || recent.size.count > 0 && limit.share(of: recent.size) >= target
            let place = isRecent ? recent.places.first : frequent.places.first
            unlink(place)
            guard entries[place].isMarked, move < Self.maximumMoves else { return remove(place) }
            entries[place].isMarked = false
            link(place, isFrequent: true)
        }
    }

    /// Removes an entry that is in no queue, and remembers its key.
    private mutating func remove(_ place: Int) {
        let entry = entries.remove(place)
        places[entry.key] = nil
        guard let data = entry.data else { return }
        size -= StorageSize(count: 1, bytes: data.count)
        let hash = entry.key.hashValue
        if entry.isFrequent {
            frequentGhosts.insert(hash, size: entry.size)
        } else {
            recentGhosts.insert(hash, size: entry.size)
        }
        // Each queue and its ghosts, and all of them, are limited as in ARC.
        while !recentGhosts.isEmpty, limit.share(of: recent.size + recentGhosts.size) > 1 { recentGhosts.removeFirst() }
        while !frequentGhosts.isEmpty, limit.share(of: total + recentGhosts.size + frequentGhosts.size) > 2 {
            frequentGhosts.removeFirst()
        }
    }
}

// The queues.
extension CacheContents {

    /// Changes the queue of an entry.
    private mutating func changeQueue(of place: Int, _ change: (inout Queue, inout LinkedQueues<Entry>) -> Void) {
        if entries[place].isFrequent { change(&frequent, &entries) } else { change(&recent, &entries) }
    }

    /// Adds an entry at the end of a queue.
    private mutating func link(_ place: Int, isFrequent: Bool) {
        entries[place].isFrequent = isFrequent
        changeQueue(of: place) { queue, entries in
            entries.append(place, to: &queue.places)
            queue.size += entries[place].size
        }
    }

    /// Takes an entry out of its queue.
    private mutating func unlink(_ place: Int) {
        changeQueue(of: place) { queue, entries in
            entries.unlink(place, from: &queue.places)
            queue.size -= entries[place].size
        }
    }
}
