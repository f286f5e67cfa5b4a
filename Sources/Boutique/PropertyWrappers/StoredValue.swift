import Bodega
public import Foundation

/// A value in the user defaults.
///
/// ```swift
/// @StoredValue(key: "hasHapticsEnabled")
/// var hasHapticsEnabled = false
///
/// $hasHapticsEnabled.toggle()
/// ```
///
/// The property is read and set like any other. Its projected value provides helpers such as `toggle()` and
/// `append(_:)`, ``publisher`` and ``values`` for observing changes, ``reset()``, and ``lastError``.
///
/// All wrappers with the same key and user defaults always have the same value. They also observe changes by other
/// processes. The value may be used on any thread; the helpers are atomic, so no change is lost.
///
/// In a class that is an `ObservableObject`, `objectWillChange` fires at each change, on the thread that makes it,
/// before publishers emit it. The property already has the new value. The Observation framework tracks its reads.
///
/// ## What is stored
/// The bytes under the key are the JSON `{"value":…}`. On platforms whose user defaults do not reliably keep values,
/// such as Linux, the bytes are in a file for each suite, in the folder `emporium/defaults` of
/// `FileManager.Directory.applicationSupport(appendingPath:)`. A value that only the user defaults contain is copied to
/// the file. A new value is also set in the `UserDefaults` object, for code that reads it there.
///
/// When a value is set in such a file, all threads and processes read it, and it survives the end of the program, also
/// a sudden one. No call waits for the disk: a thread in the background syncs the file within a second, and again when
/// the program exits. A power failure can take the changes that were not synced, the latest first. `flush()`
/// waits for the disk. Only the first value that needs a new folder, and the first change after an incomplete one, wait
/// themselves.
///
/// A launch argument, such as `-hasHapticsEnabled NO`, replaces the stored value as long as the program runs, as in
/// `UserDefaults`: a new value is stored, but not read before a launch without the argument. A registered default
/// replaces the default value. Both may be of the type of the value, or a text with the value, as JSON if it is not a
/// text itself; one that can't be decoded is ignored, which the log reports.
///
/// ## When something fails
/// Setting a property cannot throw. If a value cannot be encoded or stored, the previous value is unchanged, and
/// ``lastError`` and the log contain the error. A writer waits up to 30 seconds for other threads and processes that
/// change values, then it fails with `StorageError.Code.locked`. If stored bytes cannot be decoded, the property has
/// its default value; a new value does not overwrite these bytes: ``undecodableData()`` returns them.
@propertyWrapper
public struct StoredValue<Item: StorableItem>: Sendable {
    let core: ValueCore<Item>
    let enclosingObject = EnclosingObject()

    /// Creates a value in user defaults.
    ///
    /// - Parameters:
    ///   - wrappedValue: The value while none is stored.
    ///   - key: The name of the value in the user defaults.
    ///   - storage: The user defaults.
    public init(wrappedValue: Item, key: String, storage: UserDefaults = .standard) {
        self.init(key: key, default: wrappedValue, storage: storage)
    }

    /// Creates a value in user defaults.
    ///
    /// - Parameters:
    ///   - key: The name of the value in the user defaults.
    ///   - defaultValue: The value while none is stored.
    ///   - storage: The user defaults.
    public init(key: String, default defaultValue: Item, storage: UserDefaults = .standard) {
        self.init(key: key, default: defaultValue, in: defaultsStorage(for: storage))
    }

    /// Creates an optional value in user defaults, which is `nil` while none is stored.
    ///
    /// - Parameters:
    ///   - key: The name of the value in the user defaults.
    ///   - storage: The user defaults.
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

    /// The wrapper itself, for its other members.
    public var projectedValue: StoredValue<Item> { self }

    /// Emits the current value to each new subscriber, then each new value, on the thread that makes the change.
    public var publisher: AnyPublisher<Item, Never> { core.publisher }

    /// The current value, then each new value.
    ///
    /// Each call returns an independent stream, which buffers the newest 256 values.
    public var values: AsyncStream<Item> { core.values }

    // The compiler finds these only in the type, not in an extension.
    /// The value, when the property belongs to an object.
    ///
    /// The compiler calls it in place of ``wrappedValue``.
    ///
    /// - Parameters:
    ///   - instance: The object. If it is an `ObservableObject`, its `objectWillChange` fires before each later change.
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

    /// The wrapper, when the property belongs to an object.
    ///
    /// The compiler calls it in place of ``projectedValue``.
    ///
    /// - Parameters:
    ///   - instance: The object. If it is an `ObservableObject`, its `objectWillChange` fires before each later change.
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

    /// Reads the value, changes it and stores it: an atomic read-modify-write.
    ///
    /// Changes from several threads run one after the other, so none is lost. If the value cannot be stored, the
    /// previous value is unchanged, and ``lastError`` is set.
    ///
    /// - Parameter change: Changes the value. It must not change this value by other means.
    public func modify(_ change: (inout Item) -> Void) {
        core.errors.loggingWrite { try core.modify(change) }
    }

    /// Stores a value. If it cannot be stored, the previous value is unchanged, and ``lastError`` is set.
    ///
    /// - Parameter value: The new value.
    public func set(_ value: Item) {
        core.errors.loggingWrite { try core.set(value) }
    }
}

extension StoredValue {

    /// Waits until the value, and all other values of its user defaults, are on disk as they are now.
    ///
    /// They are on disk within a second anyway. Wait if a power failure within that time must not take the change. On
    /// Apple platforms, it waits for what `UserDefaults.synchronize()` waits for.
    ///
    /// - Throws: A `StorageError` if the disk could not be written. The values are still set, and the package goes on
    ///   trying.
    public func flush() async throws {
        try await WorkerThreads.shared.value { try core.flush() }
    }

    /// Blocks the thread until the value, and all other values of its user defaults, are on disk as they are now.
    ///
    /// It is for code that can't wait otherwise. Never call it on the main actor of an app.
    ///
    /// - Throws: A `StorageError` if the disk could not be written. The values are still set, and the package goes on
    ///   trying.
    @available(*, noasync, message: "Use the asynchronous method of the same name.")
    public func flush() throws {
        try core.flush()
    }

    /// The error of the last write or read, or `nil` if both succeeded.
    ///
    /// Its code is `encodingFailed` if the new value could not be encoded, `decodingFailed` if the stored bytes cannot
    /// be decoded, another one if the storage could not be read or written. Storing a value successfully clears it. The
    /// Observation framework tracks it.
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
    /// They are the bytes that are stored now, if they cannot be decoded, and those that a new value has replaced. The
    /// latter are kept under the value's key with the suffix `.undecodable`, then `.undecodable-2` and so on.
    ///
    /// - Returns: The bytes, the oldest first; an empty array if all could be decoded.
    /// - Throws: A `StorageError` if they could not be read.
    public func undecodableData() throws -> [Data] {
        try core.undecodableData()
    }

    /// Removes the undecodable bytes that a new value has replaced.
    ///
    /// The bytes that are stored now are not removed, even if they cannot be decoded.
    ///
    /// - Throws: A `StorageError` if they could not be removed.
    public func removeUndecodableData() throws {
        try core.removeUndecodableData()
    }
}
