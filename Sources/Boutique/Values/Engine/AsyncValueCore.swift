import Bodega
import Foundation

/// The implementation of ``AsyncStoredValue``: encodes, decodes, changes and publishes the value of an ``EngineValue``.
///
/// A change, all within the turn of the ``EngineValue``:
/// 1. The writer fetches the stored bytes and decodes them, unless they are those of `state`.
/// 2. It changes the value, encodes it, and applies it to the engine, together with a copy of undecodable bytes. If the
///    engine can compare and finds that a foreign writer has changed the bytes, the cycle begins again with step 1.
/// 3. It queues the change in `publication` and publishes it on the main actor.
/// 4. It announces the bytes to the cores of other wrappers of the value; each decodes and publishes them.
///
/// The turn makes the cycle atomic among all wrappers of the key and engine; `state` guards the last reading.
final class AsyncValueCore<Value: StorableItem>: Sendable {
    typealias Reading = ValueReading<Value>

    private struct State {
        var reading: Reading
        var hasLoaded = false
    }

    let defaultValue: Value
    private let place: EngineValue
    private let state: Locked<State>
    private let errors: ValueErrors
    private let publication = ValuePublication<Value>()

    private var key: String { place.key.rawValue }

    /// Creates a core and starts loading.
    init(_ place: EngineValue, default defaultValue: Value) {
        self.place = place
        self.defaultValue = defaultValue
        let reading = Reading(data: nil, value: defaultValue)
        state = Locked(State(reading: reading))
        errors = ValueErrors(key: place.key.rawValue)
        _ = publication.noteRead(reading)
        place.observe(self) { [weak self] data in await self?.receive(data) }
        Task {
            do {
                try await load()
            } catch {
                // `errors` has recorded and logged it. `load()` tries again, and changes throw.
            }
        }
    }

    deinit {
        place.endObserving(ObjectIdentifier(self))
    }
}

// MARK: Reading

extension AsyncValueCore {

    /// The value that was published last; the default value before the first.
    var current: Value {
        publication.observation.access()
        return publication.published ?? defaultValue
    }

    var publisher: AnyPublisher<Value, Never> {
        publication.publisher { self.current }
    }

    /// Emits before each change.
    var changes: some Publisher<Void, Never> { publication.willChange }

    var lastError: (any Error)? {
        // Whether the bytes can be decoded changes with the value.
        publication.observation.access()
        return errors.last ?? state.withLock { $0.reading.error }
    }

    /// Waits until the value has been read; reads it if that has failed.
    func load() async throws {
        try await place.turn.withLock {
            if state.withLock({ !$0.hasLoaded }) { await receive(try await fetch()) }
        }
        if let error = state.withLock({ $0.reading.error }) { throw error }
    }

    /// Reads the value again.
    func reload() async throws {
        try await place.turn.withLock {
            let data = try await fetch()
            await receive(data)
            await place.announce(data, by: self)
        }
        if let error = state.withLock({ $0.reading.error }) { throw error }
    }

    private func fetch() async throws -> Data? {
        do {
            let data = try await place.fetch()
            errors.noteRead(nil)
            return data
        } catch {
            errors.noteRead(error)
            throw error
        }
    }

    private func reading(of data: Data?) -> Reading {
        let known = state.withLock { $0.reading }
        return known.data == data ? known : Reading(decoding: data, key: key, default: defaultValue)
    }

    /// Publishes the bytes that are stored now, if they are new. Only called within the turn.
    private func receive(_ data: Data?) async {
        let reading = reading(of: data)
        state.withLock { $0 = State(reading: reading, hasLoaded: true) }
        if publication.enqueue(load: { reading }) { await deliver() }
    }

    private func deliver() async {
        await MainActor.run { publication.deliver() }
    }
}

// MARK: Changing

extension AsyncValueCore {

    /// Reads the value, changes it, stores it and publishes it.
    ///
    /// - Throws: An error of the engine, or a ``StorageError`` with the code `encodingFailed`, or `conflict` if other
    ///   writers change the value during each of many attempts; nothing has changed.
    func modify(_ change: @Sendable (inout Value) -> Void) async throws {
        try await place.turn.withLock {
            do {
                try await write(change)
                errors.noteWrite(nil)
            } catch {
                errors.noteWrite(error)
                throw error
            }
        }
    }

    private func write(_ change: (inout Value) -> Void) async throws {
        var attempts = ConditionalAttempts()
        while try await !writeOnce(change) { try attempts.fail(place.key) }
    }

    /// - Returns: `false` if a foreign writer has changed the value in between; nothing is written then.
    private func writeOnce(_ change: (inout Value) -> Void) async throws -> Bool {
        // Fetched each time: a foreign change may exist, and unreadable bytes must not be overwritten.
        let old = reading(of: try await fetch())
        var new = Reading(data: nil, value: old.value)
        change(&new.value)
        let data = try StoredEnvelope.encode(new.value, key)
        new.data = data
        var operations: [StorageOperation] = []
        if old.error != nil, let undecodable = old.data, let key = try await place.asideKey(for: undecodable) {
            operations.append(.write(key: key, data: undecodable))
        }
        operations.append(.write(key: place.key, data: data))
        let condition = StorageCondition(key: place.key, data: old.data)
        guard try await place.apply(operations, if: [condition]) else { return false }
        state.withLock { [new] in $0 = State(reading: new, hasLoaded: true) }
        publication.enqueue(new) {}
        await deliver()
        await place.announce(data, by: self)
        return true
    }
}

// MARK: Undecodable bytes

extension AsyncValueCore {

    /// All bytes of this value that could not be decoded, the oldest first.
    func undecodableData() async throws -> [Data] {
        try await place.turn.withLock {
            let kept = try await place.fetchAside()
            return kept.all(with: reading(of: try await fetch()))
        }
    }

    /// Removes the bytes that were kept aside.
    func removeUndecodableData() async throws {
        try await place.turn.withLock {
            let kept = try await place.fetchAside()
            let operations = kept.entries.map { StorageOperation.remove(key: place.asideKey(named: $0.name)) }
            if !operations.isEmpty { try await place.apply(operations) }
        }
    }
}
