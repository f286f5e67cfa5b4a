import Bodega
public import Foundation

#if canImport(Combine)
public import Combine
#else
public import OpenCombine
#endif

/// A value that is kept in the user defaults.
///
/// ```swift
/// @StoredValue(key: "hasHapticsEnabled")
/// var hasHapticsEnabled = false
///
/// $hasHapticsEnabled.toggle()
/// ```
///
/// The property is read and set like any other. Its projected value has what else there is: helpers such as `toggle()`
/// and `append(_:)`, a ``publisher`` and ``values`` to hear of changes, ``reset()``, and ``lastError``.
///
/// All wrappers with the same key and user defaults show the same value at any time. Changes by other processes are seen
/// as well. The value may be used on any thread; the helpers change it in one step, so no change is lost.
///
/// In a class that is an `ObservableObject`, `objectWillChange` fires at each change, on the thread that makes it, before
/// publishers emit it. The property shows the new value already. The Observation framework tracks who reads the value.
///
/// ## What is stored
/// The bytes under the key are the JSON `{"value":…}`. Where the platform's user defaults do not reliably keep what is
/// set, as on Linux, the bytes are in a file for each suite, in the folder `emporium/defaults` of
/// `FileManager.Directory.applicationSupport(appendingPath:)`, and a set value is on the medium when the call returns. A
/// value that is found only in the user defaults is taken over. A new value is also set in the `UserDefaults` object,
/// for code that reads it there.
///
/// ## When something fails
/// Setting a property cannot throw. If a value cannot be encoded or stored, the previous one stays, and ``lastError``
/// and the log say why. Setting waits for other threads and processes that change values for 30 seconds at most, then it
/// fails with `StorageError.Code.locked`. Stored bytes that cannot be decoded make the property show its default value;
/// they are not lost when it is set: ``undecodableData()`` has them.
@propertyWrapper
public struct StoredValue<Item: StorableItem>: Sendable {
    let core: ValueCore<Item>
    let enclosingObject = EnclosingObject()

    /// Creates a value on user defaults.
    ///
    /// - Parameters:
    ///   - wrappedValue: What the value is as long as none has been stored.
    ///   - key: The name that it is stored under.
    ///   - storage: The user defaults to keep it in.
    public init(wrappedValue: Item, key: String, storage: UserDefaults = .standard) {
        self.init(key: key, default: wrappedValue, storage: storage)
    }

    /// Creates a value on user defaults.
    ///
    /// - Parameters:
    ///   - key: The name that it is stored under.
    ///   - defaultValue: What the value is as long as none has been stored.
    ///   - storage: The user defaults to keep it in.
    public init(key: String, default defaultValue: Item, storage: UserDefaults = .standard) {
        self.init(key: key, default: defaultValue, in: defaultsStorage(for: storage))
    }

    /// Creates an optional value on user defaults, `nil` as long as none has been stored.
    ///
    /// - Parameters:
    ///   - key: The name that it is stored under.
    ///   - storage: The user defaults to keep it in.
    public init(key: String, storage: UserDefaults = .standard) where Item: ExpressibleByNilLiteral {
        self.init(key: key, default: nil, storage: storage)
    }

    init(key: String, default defaultValue: Item, in storage: any ValueStorage) {
        core = ValueCore(key: key, default: defaultValue, storage: storage)
    }

    /// The value that is stored, or the default value.
    public var wrappedValue: Item {
        get { core.current }
        nonmutating set { set(newValue) }
    }

    /// The wrapper itself, for what else it can do.
    public var projectedValue: StoredValue<Item> { self }

    /// Emits the current value to each new subscriber and then each new one, on the thread that makes the change.
    public var publisher: AnyPublisher<Item, Never> { core.publisher }

    /// The current value and then each new one.
    ///
    /// Each call makes a stream of its own. A stream that is not read keeps the newest 256 values.
    public var values: AsyncStream<Item> { core.values }

    // The compiler finds these only here, not in an extension.
    /// The value, read or set through an object that the property belongs to.
    ///
    /// The compiler uses it in place of ``wrappedValue``; there is no need to call it.
    ///
    /// - Parameters:
    ///   - instance: The object. If it is an `ObservableObject`, its `objectWillChange` fires before each change from
    ///     now on.
    ///   - wrappedKeyPath: The property.
    ///   - storageKeyPath: The wrapper.
    public static subscript<Instance>(
        _enclosingInstance instance: Instance,
        wrapped wrappedKeyPath: ReferenceWritableKeyPath<Instance, Item>,
        storage storageKeyPath: ReferenceWritableKeyPath<Instance, Self>
    ) -> Item {
        get { instance[keyPath: storageKeyPath].attached(to: instance).wrappedValue }
        set { instance[keyPath: storageKeyPath].attached(to: instance).wrappedValue = newValue }
    }

    /// The wrapper, read through an object that the property belongs to.
    ///
    /// The compiler uses it in place of ``projectedValue``; there is no need to call it.
    ///
    /// - Parameters:
    ///   - instance: The object. If it is an `ObservableObject`, its `objectWillChange` fires before each change from
    ///     now on.
    ///   - projectedKeyPath: The projected property.
    ///   - storageKeyPath: The wrapper.
    public static subscript<Instance>(
        _enclosingInstance instance: Instance,
        projected projectedKeyPath: KeyPath<Instance, Self>,
        storage storageKeyPath: ReferenceWritableKeyPath<Instance, Self>
    ) -> Self {
        instance[keyPath: storageKeyPath].attached(to: instance)
    }

    private func attached(to object: Any) -> Self {
        enclosingObject.forward(core.changes, to: object)
        return self
    }
}

extension StoredValue {

    /// Stores the default value.
    public func reset() {
        set(core.defaultValue)
    }
}

extension StoredValue: PersistedValue {

    /// Reads the value, changes it and stores it, in one step.
    ///
    /// Two changes never overlap, so none is lost, also if they come from different threads. If the value cannot be
    /// stored, the previous one stays, and ``lastError`` says why.
    ///
    /// - Parameter change: Changes the value. It must not change this value in another way.
    public func modify(_ change: (inout Item) -> Void) {
        do {
            try core.modify(change)
        } catch {
            core.errors.logWrite(error)
        }
    }

    /// Stores a value. If it cannot be stored, the previous one stays, and ``lastError`` says why.
    ///
    /// - Parameter value: The new value.
    public func set(_ value: Item) {
        do {
            try core.set(value)
        } catch {
            core.errors.logWrite(error)
        }
    }
}

extension StoredValue {

    /// Why the value could not be stored or read the last time, or `nil` if that succeeded.
    ///
    /// The codes tell the cases apart: `encodingFailed` if the last value that was set could not be encoded,
    /// `decodingFailed` if what is stored cannot be decoded, others if the place could not be read or written. A value
    /// that is stored successfully clears it. The Observation framework tracks it.
    public var lastError: StorageError? {
        core.lastError.map { error in
            error as? StorageError
                ?? StorageError(
                    .inputOutput, "The value could not be stored or read.", key: CacheKey(verbatim: core.key),
                    cause: error)
        }
    }

    /// All bytes of this value that could not be decoded.
    ///
    /// They are those that are stored now, if they cannot be decoded, and those that were stored when the value was set
    /// in spite of it. The latter are kept under the value's key with `.undecodable` behind it, further ones with
    /// `.undecodable-2` and so on.
    ///
    /// - Returns: The bytes, the oldest first; empty if everything could be decoded.
    /// - Throws: A `StorageError` if they could not be read.
    public func undecodableData() throws -> [Data] {
        try core.undecodableData()
    }

    /// Removes for good the bytes that were kept when the value was set although they could not be decoded.
    ///
    /// What is stored now stays, also if it cannot be decoded.
    ///
    /// - Throws: A `StorageError` if they could not be removed.
    public func removeUndecodableData() throws {
        try core.removeUndecodableData()
    }
}
