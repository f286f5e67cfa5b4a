import Bodega
import Foundation

/// All records of an engine, decoded on all cores while the engine reads the next ones.
///
/// 1. The engine passes parts to ``receive(_:_:)``, on the thread that reads.
/// 2. The first part waits: if it is the only one, tasks would cost more than they gain.
/// 3. While a core is free, a task decodes the next part. Else the thread that reads decodes it. So that thread never
///    waits, and the bytes of only a few parts are in memory.
/// 4. The part 0 begins again: the engine has to repeat the read. Results of earlier parts are dropped.
/// 5. ``result()`` waits for the tasks, and moves the items of all parts together, in the order of the parts.
///
/// The lock of `state` guards the keys, the parts and the tasks. Decoding, which calls the items' own code, never holds
/// it.
final class ConcurrentDecoding<Item: StorableItem>: Sendable {
    typealias Records = [(key: CacheKey, data: Data)]

    private struct State: Sendable {
        var first: Records?
        /// The keys of all parts after the first.
        var keys: [CacheKey] = []
        var parts: [DecodedPart<Item>?] = []
        var tasks: [Task<Void, Never>] = []
        var active = 0
        /// Counts how often the engine has begun to read.
        var attempt = 0
    }

    private let coding: RecordCoding<Item>
    private let state = Locked(State())
    /// Read only if needed, because on Linux that reads files.
    private let cores = Locked<Int?>(nil)

    init(_ coding: RecordCoding<Item>) {
        self.coding = coding
    }

    /// Takes the next part. The first has the number 0.
    func receive(_ number: Int, _ records: Records) {
        if number == 0 {
            return state.withLock { state in
                state = State(first: records, tasks: state.tasks, active: state.active, attempt: state.attempt + 1)
            }
        }
        if let first = state.withLock({ $0.first.take() }) { decode(first) }
        decode(records)
    }

    private func decode(_ records: Records) {
        let cores = cores.withLock { cores in
            let count = cores ?? ProcessInfo.processInfo.activeProcessorCount
            cores = count
            return count
        }
        let (place, isFree) = state.withLock { state in
            let isFree = state.active < max(cores - 1, 1)
            if isFree { state.active += 1 }
            for (key, _) in records { state.keys.append(key) }
            state.parts.append(nil)
            return ((attempt: state.attempt, index: state.parts.count - 1), isFree)
        }
        let decode = { @Sendable [coding, state] in
            let decoded = DecodedPart(records, coding)
            state.withLock { state in
                if isFree { state.active -= 1 }
                if state.attempt == place.attempt { state.parts[place.index] = decoded }
            }
        }
        if !isFree { return decode() }
        let task = Task.detached(operation: decode)
        state.withLock { $0.tasks.append(task) }
    }

    /// The decoded records, after the last part.
    func result() async -> DecodedRecords<Item> {
        if let only = state.withLock({ $0.first.take() }) {
            return DecodedRecords([DecodedPart(only, coding)], only.map { $0.key })
        }
        let (tasks, keys) = state.withLock { ($0.tasks, $0.keys) }
        // Concurrently, since nearly always each record is an item under its own key.
        async let ranks = Dictionary(ranking: keys)
        for task in tasks { await task.value }
        let parts = state.withLock { state in
            defer { state.parts = [] }
            return state.parts.map { part in
                guard let part else {
                    preconditionFailure("A part is decoded by the reader, or by a task that has ended.")
                }
                return part
            }
        }
        return DecodedRecords(parts, keys, ranks: await ranks)
    }
}

/// A record after decoding.
enum DecodedRecord<Item: StorableItem>: Sendable {
    /// An item, its own key, and whether the record has an older shape.
    case item(Item, belongsUnder: CacheKey, isOld: Bool)
    case undecodable(StorageError)

    /// The error of a record that can't be decoded.
    var error: StorageError? {
        if case .undecodable(let error) = self { error } else { nil }
    }
}

/// All records of an engine after decoding: regular ones, which are items of the current shape under their own keys,
/// and others.
struct DecodedRecords<Item: StorableItem>: Sendable {
    /// The keys of all records.
    let keys: [CacheKey]
    /// The positions of the records by their keys.
    let ranks: [CacheKey: Int]
    /// The items of the regular records, without gaps for the others.
    let items: [Item]
    /// The other records, by their indices.
    private(set) var irregular: [Int: DecodedRecord<Item>] = [:]
    /// The bytes of the records of an older shape, by their indices.
    private(set) var old: [Int: Data] = [:]
    /// The errors of the records that the engine can't read. They have no index.
    var unreadable: [StorageError] = []

    fileprivate init(_ parts: [DecodedPart<Item>], _ keys: [CacheKey], ranks: [CacheKey: Int]? = nil) {
        self.keys = keys
        self.ranks = ranks ?? Dictionary(ranking: keys)
        var start = 0
        for part in parts {
            for (index, record) in part.irregular { irregular[start + index] = record }
            for (index, data) in part.old { old[start + index] = data }
            start += part.recordCount
        }
        let count = parts.reduce(0) { $0 + $1.items.count }
        // Without items, the initializer would write to the storage that all empty arrays share, which is a data race.
        items =
            if count == 0 { [] } else {
                Array(unsafeUninitializedCapacity: count) { buffer, count in
                    for part in parts { part.items.move(to: buffer, &count) }
                }
            }
    }

    /// The errors of the records that the engine can't read, and of those that can't be decoded.
    var undecodable: [StorageError] {
        unreadable + irregular.sorted { $0.key < $1.key }.compactMap { $0.value.error }
    }

    /// Calls a closure with each record in order.
    func forEach(_ body: (CacheKey, DecodedRecord<Item>) -> Void) {
        var next = items.startIndex
        for (index, key) in keys.enumerated() {
            if let record = irregular[index] {
                body(key, record)
            } else {
                // In bounds: each record is either regular or in `irregular`.
                body(key, .item(items[next], belongsUnder: key, isOld: false))
                next += 1
            }
        }
    }
}

/// A part of the records after decoding.
private struct DecodedPart<Item: StorableItem>: Sendable {
    let recordCount: Int
    let items: MovableItems<Item>
    var irregular: [Int: DecodedRecord<Item>] = [:]
    var old: [Int: Data] = [:]

    init(_ records: [(key: CacheKey, data: Data)], _ coding: RecordCoding<Item>) {
        recordCount = records.count
        items = MovableItems(capacity: records.count)
        coding.decode(records[...]) { index, item, key, isOld in
            if !isOld, key == records[index].key { return items.append(item) }
            irregular[index] = .item(item, belongsUnder: key, isOld: isOld)
            if isOld { old[index] = records[index].data }
        } failure: { index, error in
            irregular[index] = .undecodable(error)
        }
    }
}

/// Items that are created by one thread and then moved by another, without a copy of each.
private final class MovableItems<Item: Sendable>: @unchecked Sendable {
    // @unchecked because only one thread at a time uses it: ConcurrentDecoding passes it on under a lock.
    private let items: UnsafeMutablePointer<Item>
    private let capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        items = .allocate(capacity: capacity)
        self.capacity = capacity
    }

    deinit {
        items.deinitialize(count: count)
        items.deallocate()
    }

    func append(_ item: consuming Item) {
        precondition(count < capacity, "A record has at most one item.")
        // In bounds and uninitialized.
        (items + count).initialize(to: item)
        count += 1
    }

    /// Moves the items to the end of the initialized part of a buffer.
    func move(to buffer: UnsafeMutableBufferPointer<Item>, _ initializedCount: inout Int) {
        precondition(initializedCount + count <= buffer.count, "The buffer has space for all items.")
        // In bounds and uninitialized.
        if let start = buffer.baseAddress { (start + initializedCount).moveInitialize(from: items, count: count) }
        initializedCount += count
        count = 0
    }
}
