import Bodega
import Dispatch
import Foundation
import Logging

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// What the value wrappers that need no waiting are made of: it turns bytes of a ``ValueStorage`` into a value and back,
/// changes the value in one step and tells others.
///
/// A wrapper holds one core, conforms to ``PersistedValue`` by calling ``modify(_:)`` and ``set(_:)``, maps what they
/// throw to its own error or swallows it, and hands out ``current``, ``publisher`` and ``values``.
///
/// Bytes that cannot be decoded are never lost: they stay where they are until the value is set, and are then moved to a
/// name of their own; see ``undecodableData()``.
final class ValueCore<Value: StorableItem>: Sendable {
    typealias Snapshot = ValuePublication<Value>.Snapshot

    /// What a change of bytes that cannot be decoded does.
    enum UndecodablePolicy: Sendable {
        /// It starts from the default value.
        case startFromDefault
        /// It throws. Only setting the value goes through.
        case refuse
    }

    private typealias Reading = ValueReading<Value>

    private struct State {
        var reading: Reading?
        var observation: ValueObservation?
    }

    let key: String
    let defaultValue: Value
    private let storage: any ValueStorage
    private let undecodablePolicy: UndecodablePolicy
    private let coding: ValueCoding<Value>
    private let state = Locked(State())
    let errors: ValueErrors
    let publication = ValuePublication<Value>()

    /// Creates a core. Nothing is read yet.
    ///
    /// - Parameters:
    ///   - key: The name that the value has in the storage.
    ///   - defaultValue: What the value is while there is none.
    ///   - storage: Where the bytes are.
    ///   - undecodablePolicy: What a change of bytes that cannot be decoded does.
    ///   - coding: How bytes are made of a value and a value of bytes.
    init(
        key: String,
        default defaultValue: Value,
        storage: any ValueStorage,
        undecodablePolicy: UndecodablePolicy = .startFromDefault,
        coding: ValueCoding<Value> = .envelope
    ) {
        self.key = key
        self.defaultValue = defaultValue
        self.storage = storage
        self.undecodablePolicy = undecodablePolicy
        self.coding = coding
        errors = ValueErrors(key: key)
    }
}

// MARK: Reading

extension ValueCore {

    /// The value; the default value if there is none or it cannot be decoded. If it cannot be read, it is what was read
    /// last. The Observation framework tracks it.
    var current: Value { currentSnapshot().value }

    /// Emits the current value and then each new one.
    var publisher: AnyPublisher<Value, Never> {
        publication.publisher {
            self.beginObserving()
            self.storage.observers.lookForOthers(self.key)
            return self.currentSnapshot().value
        }
    }

    /// The current value and then each new one.
    var values: AsyncStream<Value> { publisher.stream }

    /// Emits before each change.
    var changes: some Publisher<Void, Never> {
        // A change by another process is one from what is there now.
        _ = currentSnapshot()
        return publication.willChange
    }

    /// Reads the value.
    ///
    /// - Returns: The value; the default value if there is none.
    /// - Throws: What the storage threw, or a ``StorageError`` with the code `decodingFailed`.
    func value() throws -> Value {
        beginObserving()
        publication.observation.access()
        let reading = try errors.noting { try read() }
        show(reading)
        if let error = reading.error { throw error }
        return reading.value
    }

    /// Notes what a reader was shown. If others know another value they are told, but not while the reader waits.
    private func show(_ reading: Reading) {
        if publication.show(reading.snapshot) { storage.observers.planLook(key) }
    }

    private func currentSnapshot() -> Snapshot {
        beginObserving()
        publication.observation.access()
        do {
            let reading = try errors.noting { try read() }
            show(reading)
            return reading.snapshot
        } catch {
            let last = state.withLock { $0.reading }
            return Snapshot(data: last?.data, value: last?.value ?? defaultValue)
        }
    }

    /// Reads without telling anybody. What was decoded before is not decoded again.
    private func read() throws -> Reading {
        let data: Data?
        do {
            data = try storage.load(key)
        } catch let damage as DamagedValue {
            return noted(damage)
        }
        if let known = state.withLock({ $0.reading }), known.data == data, known.error?.code != .damaged {
            return known
        }
        let reading = Reading(decoding: data, key: key, default: defaultValue, coding: coding)
        state.withLock { $0.reading = reading }
        return reading
    }

    /// Remembers that there are bytes that cannot be had, and logs it once.
    private func noted(_ damage: DamagedValue) -> Reading {
        let error = StorageError(
            .damaged, "What is stored is damaged. It is kept.", key: CacheKey(verbatim: key), cause: damage.cause)
        let reading = Reading(data: nil, value: defaultValue, error: error)
        let isKnown = state.withLock { state in
            defer { state.reading = reading }
            return state.reading?.error?.code == .damaged
        }
        if !isKnown { boutiqueLogger.error("A stored value is damaged.", metadata: ["error": "\(error)"]) }
        return reading
    }
}

// MARK: Changing

extension ValueCore {

    /// Reads the value, changes it and stores it, in one step, and then tells others.
    ///
    /// - Parameter change: Changes the value, from the default value if there is none.
    /// - Throws: What the closure or the storage threw, or a ``StorageError`` with the code `encodingFailed`, or `decodingFailed` if the
    ///   policy is to refuse. Nothing has changed then.
    func modify(_ change: (inout Value) throws -> Void) throws {
        try write { reading in
            if let error = reading.error, undecodablePolicy == .refuse { throw error }
            try change(&reading.value)
        }
    }

    /// Stores a value and tells others.
    ///
    /// - Throws: What the storage threw, or a ``StorageError`` with the code `encodingFailed`. Nothing has changed then.
    func set(_ value: Value) throws {
        try write { $0.value = value }
    }

    /// Removes the value, so that it is the default value again, and tells others. Bytes that cannot be decoded are not
    /// kept.
    func remove() throws {
        try write { reading in
            reading.value = defaultValue
            reading.data = nil
        } encode: { _ in
            nil
        }
    }

    private func write(_ change: (inout Reading) throws -> Void) throws {
        try write(change) { try coding.encode($0, key) }
    }

    private func write(_ change: (inout Reading) throws -> Void, encode: (Value) throws -> Data?) throws {
        do {
            try storage.change(key) {
                let old = try read()
                var new = old
                try change(&new)
                // A change that takes the undecodable bytes away does not want them kept.
                let aside = old.error == nil ? nil : new.data
                new.data = try encode(new.value)
                new.error = nil
                if let data = aside { try keepAside(data) }
                // Within the exclusive time, so that changes are told in the order in which they were made.
                try publication.enqueue(new.snapshot) {
                    try storage.save(new.data, key)
                    state.withLock { $0.reading = new }
                }
            } then: {
                errors.noteWrite(nil)
                publication.deliver()
            }
        } catch {
            errors.noteWrite(error)
            throw error
        }
    }
}

// MARK: Errors

extension ValueCore {

    /// Why the value could not be stored or read the last time; `nil` after a write and a read that succeeded. The
    /// Observation framework tracks it.
    var lastError: (any Error)? {
        // That bytes can or cannot be decoded changes with the value.
        publication.observation.access()
        return errors.last ?? state.withLock { $0.reading?.error }
    }

    /// All bytes of this value that could not be decoded: those that are stored, if they cannot be decoded, and those
    /// that were put aside when the value was set, the oldest first.
    func undecodableData() throws -> [Data] {
        var found: [Data] = []
        while let data = try storage.load(UndecodableName.name(of: key, found.count)) { found.append(data) }
        let reading = try read()
        if reading.error != nil, let data = reading.data, !found.contains(data) { found.append(data) }
        return found
    }

    /// Removes the bytes that were put aside.
    func removeUndecodableData() throws {
        try storage.exclusively {
            var count = 0
            while try storage.load(UndecodableName.name(of: key, count)) != nil { count += 1 }
            // From the last one, so that those which are left are still found if this ends halfway.
            for number in (0..<count).reversed() { try storage.save(nil, UndecodableName.name(of: key, number)) }
        }
    }

    /// Copies bytes to a name of their own, unless they are there already.
    private func keepAside(_ data: Data) throws {
        var number = 0
        while let taken = try storage.load(UndecodableName.name(of: key, number)) {
            if taken == data { return }
            number += 1
        }
        try storage.save(data, UndecodableName.name(of: key, number))
    }
}

// MARK: Changes by others

extension ValueCore {

    /// Whoever goes on is told of changes from then on, so of several threads at once all begin, and one stays.
    private func beginObserving() {
        if state.withLock({ $0.observation != nil }) { return }
        let observation = storage.observe(key) { [weak self] counts in self?.reload(counts) }
        state.withLock { $0.observation = $0.observation ?? observation }
    }

    /// Tells others of a value that somebody else has stored.
    ///
    /// - Parameter counts: Whether what has been read just now is to be told.
    private func reload(_ counts: () -> Bool) {
        do {
            // Noting an error calls observers, so it is done outside of the order.
            let isNew = try errors.noting { try publication.enqueue(if: counts) { try read().snapshot } }
            // What else is in the queue is told by those who put it there, before their calls return.
            if isNew { publication.deliver() }
        } catch {
            // It is noted and logged, and there is nothing to tell.
        }
    }
}

/// Where changes by other processes are told: on the main queue where there is a user interface to hear of them.
let foreignChangeQueue: DispatchQueue = {
    #if canImport(SwiftUI)
    .main
    #else
    DispatchQueue(label: "emporium.boutique.values")
    #endif
}()
