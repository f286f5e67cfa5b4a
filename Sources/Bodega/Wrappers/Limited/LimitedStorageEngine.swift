public import Foundation
import Logging

/// An engine that removes its oldest items when there are too many. ``StorageEngine/limited(count:bytes:)`` creates
/// one.
///
/// - A write that exceeds a limit removes the first items in insertion order, those that were added longest ago, in the
///   same batch. An item that is overwritten keeps its place, but a call never removes what it writes.
/// - The limits are exact: the other engine never holds more, not even during a batch if its batches are atomic, nor
///   after the limits are lowered and the engine is created again: its first call removes what is too much. Only
///   ``StorageEngine/write(stream:key:)`` removes items in a batch of its own before it writes.
/// - An item that can't be read, for example because it can't be decrypted, counts as an empty one.
/// - A call that alone exceeds a limit throws ``StorageError/Code/tooLarge`` and changes nothing.
///
/// The first call reads all items once to learn their sizes, a part at a time. After that, the cost of a call does not
/// depend on the number of items, unless the call before it has failed to remove all items, or to remove one and add it
/// again: the next write then reads all items. The engine keeps all keys in memory. Its writes run one after the other.
/// It counts only what is written through it, so open one of it for each place, in one process.
public struct LimitedStorageEngine: ForwardingStorageEngine {
    private struct State {
        /// `nil` if the items have to be read.
        var items: LimitedItems?
        /// Keys of a write that has failed, but may have been applied, in the order of their changes.
        var uncertain: [CacheKey] = []
        /// Whether that write may have changed more than their sizes.
        var mustCount = false
        /// Evicted keys that no answer has named yet.
        var unreported: Set<CacheKey> = []
    }

    public let base: any StorageBackend
    private let limit: StorageLimit
    private let lock = AsyncLock()
    private let state = Locked(State())

    init(base: any StorageBackend, limit: StorageLimit) {
        self.base = base
        self.limit = limit
    }

    /// None. Its batches are followed by others, which evict items.
    public var database: (any StorageDatabase)? { nil }

    /// None. What follows from the removal of another item would change the items without the engine's knowledge.
    public var references: (any StorageReferences)? { nil }

    /// Those of the base. The engine evicts items, and its changes wait for others, which ends early when their task is
    /// cancelled.
    public var traits: StorageTraits { base.traits.union(.evicts).subtracting(.ignoresCancellation) }

    public func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        guard state.withLock({ $0.items == nil }) else { return try await body() }
        do {
            try await lock.withLock(prepare)
        } catch {
            if error is CancellationError || call.isWrite { throw error }
            return try await answerOfCopy(body, insteadOf: error)
        }
        return reporting(try await body())
    }

    /// Adds what was evicted by calls that could not report it.
    private func reporting<Value>(_ answer: StorageAnswer<Value>) -> StorageAnswer<Value> {
        var answer = answer
        answer.report.evicted.formUnion(
            state.withLock { state in
                defer { state.unreported = [] }
                return state.unreported
            })
        return answer
    }

    /// Before the items are counted, a mirror inside may answer, but not the engine whose items could not be counted.
    private func answerOfCopy<Value: StorageAnswerValue>(
        _ body: () async throws -> StorageAnswer<Value>, insteadOf failure: any Error
    ) async throws -> StorageAnswer<Value> {
        do {
            let answer = try await body()
            if answer.report.sources.contains(.copy) { return answer }
        } catch let error as CancellationError {
            throw error
        } catch {
            bodegaLogger.debug("No copy could answer.", metadata: ["error": "\(error)"])
        }
        throw failure
    }

    public func fetch(key: CacheKey) async throws -> Data? {
        if state.withLock({ $0.items != nil }) { return try await base.fetch(key: key) }
        return try await fetch(FetchRequest([key])).value.first?.data
    }

    public func apply(_ stream: StorageByteStream, key: CacheKey) async throws -> StorageAnswer<BatchOutcome> {
        guard let count = stream.count else {
            return try await apply(StorageBatch([.write(key: key, data: stream.data())]))
        }
        return try await change(LimitedBatch(key, bytes: count)) { evictions in
            if !evictions.isEmpty { try await base.remove(keys: evictions) }
            return try await base.apply(stream, key: key)
        }
    }

    public func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        try await change(LimitedBatch(batch.operations), isRecognized: batch.isRecognized(by: base)) { evictions in
            var batch = batch
            batch.operations = evictions.map { .remove(key: $0) } + batch.operations
            return try await base.apply(batch)
        }
    }

    /// Changes items, and removes the oldest ones if they are too many or too large then.
    ///
    /// - Parameter isRecognized: Whether the base may have applied the batch earlier, so that its items are counted.
    private func change(
        _ batch: LimitedBatch, isRecognized: Bool = false,
        _ perform: ([CacheKey]) async throws -> StorageAnswer<BatchOutcome>
    ) async throws -> StorageAnswer<BatchOutcome> {
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
            var answer = try await perform(evictions)
            if isRecognized {
                if answer.value.wasApplied { answer.report.evicted.formUnion(evictions) }
                return reporting(answer)
            }
            state.withLock { state in
                // What another limited engine inside has evicted.
                state.uncertain = Array(answer.report.evicted.subtracting(evictions))
                state.mustCount = false
                guard answer.value.wasApplied else { return }
                if batch.removesAll { state.items = LimitedItems() }
                for key in evictions { state.items?.set(nil, for: key) }
                for (key, bytes) in batch.steps { state.items?.set(bytes, for: key) }
            }
            if answer.value.wasApplied { answer.report.evicted.formUnion(evictions) }
            return reporting(answer)
        }
    }

    /// Reads the sizes of all items, or of those that a failed call may have changed, and enforces the limits.
    private func prepare() async throws {
        // A copy may lack the change whose result is unknown.
        let options = ReadOptions(omitsUnreadable: true, needsOriginal: true)
        let uncertain = state.withLock { state in
            if state.mustCount { state = State(uncertain: state.uncertain, unreported: state.unreported) }
            return state.uncertain
        }
        if !uncertain.isEmpty {
            let read = try await base.fetch(FetchRequest(uncertain, options: options))
            var found = Dictionary(read.value.map { ($0.key, $0.data.count) }) { $1 }
            for key in read.report.unreadable.compactMap(\.key) { found[key] = 0 }
            state.withLock { [found] state in
                state.unreported.formUnion(read.report.evicted)
                state.unreported.formUnion(uncertain.filter { found[$0] == nil })
                for key in uncertain { state.items?.set(found[key], for: key) }
                state.uncertain = []
            }
        }
        if state.withLock({ $0.items }) == nil {
            var (items, evicted) = (LimitedItems(), Set<CacheKey>())
            try await base.readParts(options: options) { part in
                evicted.formUnion(part.report.evicted)
                for item in part.value { items.set(item.data.count, for: item.key) }
                for key in part.report.unreadable.compactMap(\.key) { items.set(0, for: key) }
            }
            state.withLock { [items, evicted] state in
                state = State(items: items, unreported: state.unreported.union(evicted))
            }
        }
        let evictions = state.withLock { $0.items?.evictions(for: [:], limit: limit) ?? [] }
        if evictions.isEmpty { return }
        state.withLock { $0.uncertain = evictions }
        let removed = try await base.apply(StorageBatch(evictions.map { .remove(key: $0) }))
        state.withLock { state in
            state.unreported.formUnion(removed.report.evicted.union(evictions))
            for key in evictions { state.items?.set(nil, for: key) }
            state.uncertain = []
        }
    }
}

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
    public func limited(count: Int? = nil, bytes: Int? = nil) -> LimitedStorageEngine {
        LimitedStorageEngine(base: backend, limit: StorageLimit(count: count, bytes: bytes))
    }
}
