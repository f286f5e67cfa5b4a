import Bodega

/// Reads the values of a property, and reads them again when the engine's log has changes.
///
/// 1. The follower calls ``catchUp()`` at the beginning and at each signal. Signals during a read are one.
/// 2. Reads run one after the other, off the main actor. If no item has changed since the last one, nothing is read.
/// 3. The owner ends the loader. The follower's attempt holds the loader only, so that it ends with the owner.
///
/// The main actor guards all state. `lock` orders the reads.
@MainActor
final class LiveValuesLoader<Value: Hashable & Sendable, Item: StorableItem> {
    private(set) var values: [ValueCount<Value>] = []
    private(set) var state: StoreState = .loading
    private(set) var undecodable: [StorageError] = []
    nonisolated let objectChanges = ObjectChanges()
    let valuesPoint = ObservationPoint()
    let statePoint = ObservationPoint()

    private var subscriptions: [ItemsSubscription<ValueCount<Value>>] = []

    private let property: any KeyPath<Item, Value> & Sendable
    private let query: Query<Item>
    private let storage: ObjectStorage<Item>
    private let log: FollowedLog
    private let lock = AsyncLock()
    /// The ends of the logs of the engines behind conditions when the values were read; `nil` where there is no log.
    private var otherCursors: [StorageCursor?] = []

    nonisolated init(
        _ property: any KeyPath<Item, Value> & Sendable, _ query: Query<Item>, _ storage: ObjectStorage<Item>
    ) {
        (self.property, self.query, self.storage) = (property, query, storage)
        log = FollowedLog(([storage.storage] + query.referencedEngines).compactMap(\.log))
    }

    nonisolated func begin() {
        log.begin("\(LiveValues<Value, Item>.self)") { [weak self] in try await self?.catchUp() }
        log.catchUpSoon()
    }

    nonisolated func end() { log.end() }

    /// Ends all subscriptions.
    func finish() {
        for subscription in subscriptions { subscription.finish() }
        subscriptions = []
    }

    /// Reads the values, unless no item has changed since they were read.
    func catchUp() async throws {
        try await notingFailure {
            log.follow()
            if let cursor = try await cursorIfUnchanged() {
                log.cursor = cursor
                if !state.isLoaded { show(values, undecodable) }
            } else {
                try await readAll()
            }
        }
    }

    /// Reads the values.
    func reload() async throws { try await notingFailure { try await readAll() } }

    private func notingFailure(_ read: () async throws -> Void) async throws {
        do {
            try await lock.withLock(read)
        } catch {
            // A caller that stops waiting says nothing about the engine.
            if !(error is CancellationError) { fail(error) }
            throw error
        }
    }

    /// The end of the log, if no item has changed up to it.
    private func cursorIfUnchanged() async throws -> StorageCursor? {
        guard let cursor = log.cursor else { return nil }
        for case (let other, let cursor?) in zip(query.referencedEngines, otherCursors) {
            guard try await other.changedKeys(since: cursor, upTo: 0) != nil else { return nil }
        }
        return try await storage.storage.changedKeys(since: cursor, upTo: 0)?.cursor
    }

    private func readAll() async throws {
        // Changes between this and the values are read again.
        let cursor = try await storage.storage.followedCursor()
        var others: [StorageCursor?] = []
        for other in query.referencedEngines { others.append(try await other.followedCursor()) }
        do {
            show(try await storage.values(of: property, matching: query), [])
        } catch let error as StorageError where error.code == .decodingFailed || error.code == .decryptionFailed {
            let read = try await storage.valuesOmittingUndecodable(of: property, matching: query)
            show(read.values, read.undecodable)
        }
        (log.cursor, otherCursors) = (cursor, others)
    }

    private func show(_ new: [ValueCount<Value>], _ errors: [StorageError]) {
        let isStateChanged = !state.isLoaded || undecodable.count + errors.count > 0
        if new == values, !isStateChanged { return }
        let points = (new == values ? [] : [valuesPoint]) + (isStateChanged ? [statePoint] : [])
        let isPublished = new != values
        change(points) { (values, undecodable, state) = (new, errors, .loaded) }
        if isPublished { for subscription in subscriptions { subscription.publish() } }
    }

    /// Shows that the values could not be read. Values that are loaded stay.
    private func fail(_ error: any Error) {
        // Each attempt to read can fail with the same error.
        if let known = state.error, "\(known)" == "\(error)" { return }
        change([statePoint]) { state = .failed(error) }
    }

    private func change(_ points: [ObservationPoint], _ make: () -> Void) {
        objectChanges.publisher.send()
        for point in points { point.willChange() }
        make()
        for point in points { point.didChange() }
    }
}

extension LiveValuesLoader: ItemsSource {
    var latestItems: [ValueCount<Value>] { values }

    func add(_ subscription: ItemsSubscription<ValueCount<Value>>) {
        subscriptions.removeAll { $0.isCancelled }
        subscriptions.append(subscription)
    }
}
