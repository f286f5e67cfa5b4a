import Bodega
import Foundation

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// What ``AsyncStoredValue`` is made of: it turns the bytes of an ``EngineValue`` into a value and back, changes the value
/// in one step and tells others, on the main actor.
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

    /// Creates a core, and begins to load.
    init(_ place: EngineValue, default defaultValue: Value) {
        self.place = place
        self.defaultValue = defaultValue
        let reading = Reading(data: nil, value: defaultValue)
        state = Locked(State(reading: reading))
        errors = ValueErrors(key: place.key.rawValue)
        _ = publication.show(reading.snapshot)
        place.observe(self) { [weak self] data in await self?.receive(data) }
        Task {
            do {
                try await load()
            } catch {
                // It is noted and logged; who needs the value finds out.
            }
        }
    }

    deinit {
        place.endObserving(ObjectIdentifier(self))
    }
}

// MARK: Reading

extension AsyncValueCore {

    /// The value that was told last; the default value before the first.
    var current: Value {
        publication.observation.access()
        return publication.told ?? defaultValue
    }

    var publisher: AnyPublisher<Value, Never> {
        publication.publisher { self.current }
    }

    /// Emits before each change.
    var changes: some Publisher<Void, Never> { publication.willChange }

    var lastError: (any Error)? {
        // That bytes can or cannot be decoded changes with the value.
        publication.observation.access()
        return errors.last ?? state.withLock { $0.reading.error }
    }

    /// Waits until the value has been read, and tries again if that has failed.
    func load() async throws {
        try await place.turn.take { [self] in
            if state.withLock({ !$0.hasLoaded }) { await receive(try await fetch()) }
        }
        if let error = state.withLock({ $0.reading.error }) { throw error }
    }

    /// Reads the value again.
    func reload() async throws {
        try await place.turn.take { [self] in
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

    /// Takes over what is stored now, within the turn.
    private func receive(_ data: Data?) async {
        let reading = reading(of: data)
        state.withLock { $0 = State(reading: reading, hasLoaded: true) }
        if publication.enqueue(load: { reading.snapshot }) { await deliver() }
    }

    private func deliver() async {
        await MainActor.run { publication.deliver() }
    }
}

// MARK: Changing

extension AsyncValueCore {

    /// Reads the value, changes it, stores it and then tells others.
    ///
    /// - Parameter change: Changes the value.
    /// - Throws: What the engine threw, or a ``StorageError`` with the code `encodingFailed`. Nothing has changed then.
    func modify(_ change: @Sendable (inout Value) -> Void) async throws {
        try await place.turn.take {
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
        // Read each time: another instance or process may have changed it, and what cannot be read must not be lost.
        let old = reading(of: try await fetch())
        var new = Reading(data: nil, value: old.value)
        change(&new.value)
        let data = try StoredEnvelope.encode(new.value, key: key)
        new.data = data
        var operations: [StorageOperation] = []
        if old.error != nil, let undecodable = old.data, let aside = try await place.asideKey(for: undecodable) {
            operations.append(.write(key: aside, data: undecodable))
        }
        try await place.apply(operations + place.operations(storing: data))
        state.withLock { [new] in $0 = State(reading: new, hasLoaded: true) }
        publication.enqueue(new.snapshot) {}
        await deliver()
        await place.announce(data, by: self)
    }
}

// MARK: What could not be decoded

extension AsyncValueCore {

    /// All bytes of this value that could not be decoded, the oldest first.
    func undecodableData() async throws -> [Data] {
        try await place.turn.take { [self] in
            var found = try await place.fetchAside().map(\.data)
            let reading = reading(of: try await fetch())
            if reading.error != nil, let data = reading.data, !found.contains(data) { found.append(data) }
            return found
        }
    }

    /// Removes the bytes that were put aside.
    func removeUndecodableData() async throws {
        try await place.turn.take { [self] in
            let operations = try await place.fetchAside().map { StorageOperation.remove(key: $0.key) }
            if !operations.isEmpty { try await place.apply(operations) }
        }
    }
}
