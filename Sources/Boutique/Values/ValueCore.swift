import Bodega
import Dispatch
import Foundation
import Logging

/// The implementation of the synchronous value wrappers: encodes, decodes, changes and publishes a value of a
/// ``ValueStorage``.
///
/// A wrapper holds one core, conforms to ``PersistedValue`` by calling ``modify(_:)`` and ``set(_:)``, converts or logs
/// their errors, and exposes ``current``, ``publisher`` and ``values``.
///
/// A change:
/// 1. The writer takes exclusive access to the storage. ``ValueObservers`` then postpones checks for foreign changes.
/// 2. It reads the stored bytes, decodes them unless they are those of `state`, changes the value and encodes it. Bytes
///    that cannot be decoded are copied aside first; see ``UndecodableBytes``.
/// 3. It saves the bytes and queues the change in `publication`, in the order of the storage.
/// 4. It releases the storage, publishes the queue, and notifies the cores of other wrappers of the value.
///
/// After a foreign change the storage calls ``reload(_:)``, which reads the bytes and publishes them if they are new.
///
/// The storage's exclusive access guards the stored bytes; `state` guards the last reading and the observation.
final class ValueCore<Value: StorableItem>: Sendable {
    /// How a change treats stored bytes that cannot be decoded.
    enum UndecodablePolicy: Sendable {
        /// It starts from the default value.
        case startFromDefault
        /// It throws. Only setting the value succeeds.
        case refuse
    }

    private typealias Reading = ValueReading<Value>

    private struct State {
        var reading: Reading?
        /// The first form of a preset that could not be decoded.
        var ignoredPreset: Data?
        var observation: ValueObservation?
    }

    /// The name of the value in the storage.
    let key: String
    /// The value while none is stored.
    let defaultValue: Value
    private let storage: any ValueStorage
    private let undecodablePolicy: UndecodablePolicy
    private let coding: ValueCoding<Value>
    private let state = Locked(State())
    let errors: ValueErrors
    let publication = ValuePublication<Value>()

    /// Creates a core without reading.
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

    /// The value; the default value if none is stored or it cannot be decoded. If it cannot be read, the value that was
    /// read last. The Observation framework tracks it.
    var current: Value {
        do {
            return try currentReading().value
        } catch {
            return state.withLock { $0.reading?.value } ?? defaultValue
        }
    }

    /// Emits the current value and each new one.
    var publisher: AnyPublisher<Value, Never> {
        publication.publisher {
            self.beginObserving()
            self.storage.observers.checkForForeignChanges(self.key)
            return self.current
        }
    }

    /// The current value and each new one.
    var values: AsyncStream<Value> { publisher.stream }

    /// Emits before each change.
    var changes: some Publisher<Void, Never> {
        // A later foreign change is detected by comparison with this reading.
        _ = current
        return publication.willChange
    }

    /// Reads the value.
    ///
    /// - Returns: The value; the default value if none is stored.
    /// - Throws: An error of the storage, or a ``StorageError`` with the code `decodingFailed`.
    func value() throws -> Value {
        let reading = try currentReading()
        if let error = reading.error { throw error }
        return reading.value
    }

    private func currentReading() throws -> Reading {
        beginObserving()
        publication.observation.access()
        let reading = try errors.noting { try read() }
        // A foreign change. The reader does not wait until it is published.
        if publication.noteRead(reading) { storage.observers.scheduleCheck(key) }
        return reading
    }

    /// Reads without publishing. Bytes that were decoded before are not decoded again.
    private func read() throws -> Reading {
        let data: Data?
        do {
            data = try storage.load(key)
        } catch let damage as DamagedValue {
            return reading(of: damage)
        }
        if let preset = preset(storage.presets(key, insteadOf: data)) { return preset }
        if let known = state.withLock({ $0.reading }), known.data == data, known.error?.code != .damaged {
            return known
        }
        let reading = Reading(decoding: data, key: key, default: defaultValue, coding: coding)
        state.withLock { $0.reading = reading }
        return reading
    }

    /// Decodes the first form that can be decoded. A preset that can't be is ignored, which is logged once.
    private func preset(_ forms: [Data]) -> Reading? {
        guard let first = forms.first else { return nil }
        let (known, ignored) = state.withLock { ($0.reading, $0.ignoredPreset) }
        if ignored == first { return nil }
        if let known, known.data == first, known.error == nil { return known }
        var failure: StorageError?
        for form in forms {
            do throws(StorageError) {
                let reading = Reading(data: first, value: try coding.decode(form, key))
                state.withLock { $0.reading = reading }
                return reading
            } catch {
                failure = failure ?? error
            }
        }
        state.withLock { $0.ignoredPreset = first }
        boutiqueLogger.notice(
            "A launch argument or a registered default is ignored, because it can't be decoded as the value's type.",
            metadata: ["key": "\(key)", "type": "\(Value.self)", "error": "\(failure?.cause ?? failure as Any)"]
        )
        return nil
    }

    /// The reading for bytes that cannot be recovered. The damage is logged once.
    private func reading(of damage: DamagedValue) -> Reading {
        let error = StorageError(
            .damaged, "The stored bytes are damaged. They are kept.", key: CacheKey(verbatim: key), cause: damage.cause)
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

    /// Reads the value, changes it, stores it and publishes it, as an atomic read-modify-write.
    ///
    /// - Parameter change: Changes the value, or the default value if none is stored.
    /// - Throws: An error of the closure or the storage, or a ``StorageError`` with the code `encodingFailed`, or
    ///   `decodingFailed` with the policy `refuse`. Nothing has changed then.
    func modify(_ change: (inout Value) throws -> Void) throws {
        try write { reading in
            if let error = reading.error, undecodablePolicy == .refuse { throw error }
            try change(&reading.value)
        }
    }

    /// Stores a value and publishes it.
    ///
    /// - Throws: An error of the storage, or a ``StorageError`` with the code `encodingFailed`; nothing has changed.
    func set(_ value: Value) throws {
        try write { $0.value = value }
    }

    /// Sets the default value, which ``ValueCoding/secret()`` stores as no bytes. Undecodable bytes are removed, too.
    func remove() throws {
        try write { $0 = Reading(data: nil, value: defaultValue, error: $0.error) }
    }

    /// Waits until all changes of the storage that were made before the call survive a power failure.
    func flush() throws {
        try storage.flush()
    }

    private func write(_ change: (inout Reading) throws -> Void) throws {
        do {
            try storage.change(key) {
                var new = try read()
                try change(&new)
                // `remove()` has set the bytes to nil.
                let undecodable = new.error == nil ? nil : new.data
                new.data = try coding.encode(new.value, key)
                new.error = nil
                if let undecodable { try keepAside(undecodable) }
                // Within the exclusive access, so that changes are published in the order in which they were made.
                try publication.enqueue(new) {
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

    /// The error of the last write or read; `nil` if both succeeded. The Observation framework tracks it.
    var lastError: (any Error)? {
        // Whether the bytes can be decoded changes with the value.
        publication.observation.access()
        return errors.last ?? state.withLock { $0.reading?.error }
    }

    /// All bytes of this value that could not be decoded: those that were kept aside, the oldest first, and the stored
    /// ones if they cannot be decoded.
    func undecodableData() throws -> [Data] {
        try keptAside().all(with: read())
    }

    /// Removes the bytes that were kept aside.
    func removeUndecodableData() throws {
        try storage.exclusively {
            // The last first, so that the remaining ones are still found if this is interrupted.
            for entry in try keptAside().entries.reversed() { try storage.save(nil, entry.name) }
        }
    }

    /// Copies bytes to a name of their own, unless they are kept already.
    private func keepAside(_ data: Data) throws {
        let kept = try keptAside(until: data)
        if !kept.contains(data) { try storage.save(data, kept.freeName) }
    }

    /// Reads the bytes that were kept aside; all of them, or up to the given ones.
    private func keptAside(until last: Data? = nil) throws -> UndecodableBytes {
        var kept = UndecodableBytes(of: key)
        while let data = try storage.load(kept.freeName) {
            kept.append(data)
            if data == last { break }
        }
        return kept
    }
}

// MARK: Foreign changes

extension ValueCore {

    /// Begins to observe the storage. Of several threads that do so simultaneously, one keeps its observation; all
    /// return when an observation exists.
    private func beginObserving() {
        if state.withLock({ $0.observation != nil }) { return }
        let observation = storage.observe(key) { [weak self] isCurrent in self?.reload(isCurrent) }
        state.withLock { $0.observation = $0.observation ?? observation }
    }

    /// Reads the value and publishes it if it is new.
    ///
    /// - Parameter isCurrent: Returns whether the bytes that were just read may be published.
    private func reload(_ isCurrent: () -> Bool) {
        do {
            // Recording an error calls observers, so `order` of the publication must not be held.
            let isNew = try errors.noting { try publication.enqueue(if: isCurrent) { try read() } }
            // Other queued changes are published by their writers, before their calls return.
            if isNew { publication.deliver() }
        } catch {
            // `errors` has recorded and logged it, and no value is to be published.
        }
    }
}

/// The queue on which foreign changes are published: the main queue on platforms with a user interface.
let foreignChangeQueue: DispatchQueue = {
    #if canImport(SwiftUI)
    .main
    #else
    DispatchQueue(label: "emporium.boutique.values")
    #endif
}()
