public import Foundation
import Logging

/// An engine that removes its oldest items when there are too many. ``StorageEngine/limited(count:bytes:)`` creates
/// one.
///
/// - A write that exceeds a limit removes the first items in insertion order, those that were added longest ago, in the
///   same batch. An item that is overwritten keeps its place, but a call never removes what it writes.
/// - The limits are exact: the other engine never holds more, not even during a batch if its batches are atomic, nor
///   after the limits are lowered and the engine is created again: its first call removes what is too much. Only
///   ``DatedStorageEngine/write(items:)`` and ``StorageEngine/write(stream:key:)`` remove items in a batch of their own
///   before they write.
/// - An item that can't be read, for example because it can't be decrypted, counts as an empty one.
/// - A call that alone exceeds a limit throws ``StorageError/Code/tooLarge`` and changes nothing.
///
/// The first call reads all items once to learn their sizes, a part at a time. After that, the cost of a call does not
/// depend on the number of items, unless the call before it has failed to remove all items, or to remove one and add it
/// again: the next write then reads all items. The engine keeps all keys in memory. Its writes run one after the other.
/// It counts only what is written through it, so open one of it for each place, in one process.
public struct LimitedStorageEngine<Base: StorageEngine>: ForwardingStorageEngine {
    private struct State {
        /// `nil` if the items have to be read.
        var items: LimitedItems?
        /// Keys of a write that has failed, but may have been applied, in the order of their changes.
        var uncertain: [CacheKey] = []
        /// Whether that write may have changed more than their sizes.
        var mustCount = false
    }

    public let base: Base
    private let limit: StorageLimit
    private let lock = AsyncLock()
    private let state = Locked(State())

    init(base: Base, limit: StorageLimit) {
        self.base = base
        self.limit = limit
    }

    public func forward<Value>(_ call: StorageCall, _ body: () async throws -> Value) async throws -> Value {
        InnerCall.current?.canLoseItems(by: .limit)
        guard state.withLock({ $0.items == nil }) else { return try await body() }
        do {
            try await lock.withLock(prepare)
        } catch {
            if error is CancellationError || call.operation.isWrite { throw error }
            return try await answerOfCopy(body, insteadOf: error)
        }
        return try await body()
    }

    /// Performs a read although the items can't be counted: a mirror inside can answer. Another answer does not count.
    private func answerOfCopy<Value>(
        _ body: () async throws -> Value, insteadOf failure: any Error
    ) async throws -> Value {
        let inner = InnerCall()
        do {
            let value = try await inner(body)
            if inner.isFromCopy { return value }
        } catch let error as CancellationError {
            throw error
        } catch {
            bodegaLogger.debug("No copy could answer.", metadata: ["error": "\(error)"])
        }
        throw failure
    }

    public func write(_ data: Data, key: CacheKey) async throws {
        try await apply([.write(key: key, data: data)])
    }

    public func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws {
        try await apply(dataAndKeys.map { .write(key: $0.key, data: $0.data) })
    }

    /// Writes an item in parts. See ``StorageEngine/write(stream:key:)``.
    ///
    /// A stream of unknown length is read into memory first. Otherwise the items that make room are removed in a batch
    /// of their own.
    public func write(stream: StorageByteStream, key: CacheKey) async throws {
        guard let count = stream.count else { return try await write(stream.data(), key: key) }
        _ = try await change(LimitedBatch(key, bytes: count)) { evictions in
            if !evictions.isEmpty { try await base.remove(keys: evictions) }
            try await base.write(stream: stream, key: key)
            return true
        }
    }

    public func remove(key: CacheKey) async throws { try await apply([.remove(key: key)]) }

    public func remove(keys: [CacheKey]) async throws { try await apply(keys.map { .remove(key: $0) }) }

    public func removeAllData() async throws { try await apply([.removeAll]) }

    public func apply(_ operations: [StorageOperation]) async throws {
        _ = try await change(LimitedBatch(operations)) { evictions in
            try await base.apply(evictions.map { .remove(key: $0) } + operations)
            return true
        }
    }

    /// Changes items after others have made room.
    ///
    /// - Parameters:
    ///   - batch: What the call changes.
    ///   - perform: Removes keys and applies the call. Returns whether it was applied.
    private func change(_ batch: LimitedBatch, _ perform: ([CacheKey]) async throws -> Bool) async throws -> Bool {
        InnerCall.current?.canLoseItems(by: .limit)
        guard limit.allows(batch.size) else {
            throw StorageError(
                .tooLarge,
                "The items of one call exceed the limit of the engine. Divide them, or raise the limit.",
                key: batch.items.count == 1 ? batch.items.keys.first : nil)
        }
        return try await lock.withLock {
            try await prepare()
            let evictions = state.withLock { state in
                batch.removesAll ? [] : state.items?.evictions(for: batch.items, limit: limit) ?? []
            }
            state.withLock { state in
                state.uncertain = evictions + batch.steps.map(\.key)
                // Sizes don't show whether all items were removed, or whether one was added again and is the newest
                // now.
                state.mustCount = batch.removesAll || batch.addsAgain
            }
            let inner = InnerCall()
            let wasApplied = try await inner {
                InnerCall.current?.evict(evictions)
                return try await perform(evictions)
            }
            state.withLock { state in
                // What another limited engine inside has evicted.
                state.uncertain = Array(inner.evictedKeys.subtracting(evictions))
                state.mustCount = false
                guard wasApplied else { return }
                if batch.removesAll { state.items = LimitedItems() }
                for key in evictions { state.items?.set(nil, for: key) }
                for (key, bytes) in batch.steps { state.items?.set(bytes, for: key) }
            }
            return wasApplied
        }
    }

    /// Reads the sizes of all items, or of those that a failed call may have changed, and enforces the limits.
    private func prepare() async throws {
        // A copy may lack the change whose result is unknown.
        let inner = InnerCall(needsOriginal: true)
        let uncertain = state.withLock { state in
            if state.mustCount { state = State() }
            return state.uncertain
        }
        if !uncertain.isEmpty {
            let read = try await inner {
                try await PartialRead(from: base) { try await $0.fetch(keys: uncertain) }
            }
            var found = Dictionary(read.value.map { ($0.key, $0.data.count) }) { $1 }
            for key in read.unreadable.compactMap(\.key) { found[key] = 0 }
            state.withLock { [found] state in
                for key in uncertain { state.items?.set(found[key], for: key) }
                state.uncertain = []
            }
        }
        if state.withLock({ $0.items }) == nil {
            var items = LimitedItems()
            try await inner {
                try await base.readParts { part in
                    for item in part.value { items.set(item.data.count, for: item.key) }
                    for key in part.unreadable.compactMap(\.key) { items.set(0, for: key) }
                }
            }
            state.withLock { [items] in $0 = State(items: items) }
        }
        let evictions = state.withLock { $0.items?.evictions(for: [:], limit: limit) ?? [] }
        guard !evictions.isEmpty else { return }
        state.withLock { $0.uncertain = evictions }
        InnerCall.current?.evict(evictions)
        try await base.remove(keys: evictions)
        state.withLock { state in
            for key in evictions { state.items?.set(nil, for: key) }
            state.uncertain = []
        }
    }
}

extension LimitedStorageEngine: DatedStorageEngine where Base: DatedStorageEngine {

    /// Writes several items with their dates. See ``DatedStorageEngine/write(items:)``.
    public func write(items: [StorageItem]) async throws {
        let batch = LimitedBatch(items.map { .write(key: $0.key, data: $0.data) })
        _ = try await change(batch) { evictions in
            if !evictions.isEmpty { try await base.remove(keys: evictions) }
            try await base.write(items: items)
            return true
        }
    }
}

extension LimitedStorageEngine: ConditionalStorageEngine where Base: ConditionalStorageEngine {

    /// Applies operations if items are in the expected state. See ``ConditionalStorageEngine/apply(_:if:)``.
    public func apply(_ operations: [StorageOperation], if conditions: [StorageCondition]) async throws -> Bool {
        try await change(LimitedBatch(operations)) { evictions in
            try await base.apply(evictions.map { .remove(key: $0) } + operations, if: conditions)
        }
    }
}

extension LimitedStorageEngine: ObservableStorageEngine where Base: ObservableStorageEngine {}
extension LimitedStorageEngine: QueryableStorageEngine where Base: QueryableStorageEngine {}

/// What a call leaves under the keys that it changes.
private struct LimitedBatch {
    /// The number of bytes under each key, `nil` where there is no item.
    private(set) var items: [CacheKey: Int?] = [:]
    /// The keys in the order of the changes, since the last removal of all items.
    private(set) var steps: [(key: CacheKey, bytes: Int?)] = []
    private(set) var removesAll = false
    /// Whether an item is removed and then written, which makes it the newest.
    private(set) var addsAgain = false

    init(_ key: CacheKey, bytes: Int) {
        (steps, items) = ([(key, bytes)], [key: bytes])
    }

    init(_ operations: [StorageOperation]) {
        for operation in operations {
            switch operation {
            case .write(let key, let data): steps.append((key, data.count))
            case .remove(let key): steps.append((key, nil))
            case .removeAll: (steps, removesAll) = ([], true)
            }
        }
        for (key, bytes) in steps {
            if bytes != nil, items[key] == .some(nil) { addsAgain = true }
            items.updateValue(bytes, forKey: key)
        }
    }

    /// The size of the written items.
    var size: StorageSize {
        items.values.reduce(into: StorageSize()) { size, bytes in
            if let bytes { size += StorageSize(count: 1, bytes: bytes) }
        }
    }
}

extension StorageEngine {

    /// Returns an engine that removes the oldest items of this engine when there are too many.
    ///
    /// ```swift
    /// let images = try DiskStorageEngine(opening: directory).limited(bytes: 500 << 20)
    /// ```
    ///
    /// - Parameters:
    ///   - count: The maximum number of items; `nil` for no limit.
    ///   - bytes: The maximum number of bytes of all items; `nil` for no limit. Keys are not counted.
    public func limited(count: Int? = nil, bytes: Int? = nil) -> LimitedStorageEngine<Self> {
        LimitedStorageEngine(base: self, limit: StorageLimit(count: count, bytes: bytes))
    }
}
