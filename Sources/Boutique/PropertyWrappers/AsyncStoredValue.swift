public import Bodega
public import Foundation

/// A value in a storage engine.
///
/// ```swift
/// @AsyncStoredValue(key: "hasHapticsEnabled", storage: SQLiteStorageEngine.default(appendingPath: "Settings"))
/// var hasHapticsEnabled = false
///
/// try await $hasHapticsEnabled.toggle()
/// ```
///
/// It is like ``StoredValue``, but engines are asynchronous and can fail, so the methods that change the value are
/// `async` and throw. Changes take effect one after the other, after the value has been read. A change is stored first,
/// then published on the main actor; both have happened when the call returns. If the call throws, nothing has changed.
///
/// The value is read in the background when the property is created. Until then it is the default value;
/// ``valueHasLoaded()`` waits for it. If the value cannot be read, changes throw, because they could overwrite it; each
/// change reads again.
///
/// All wrappers with one key and one engine object have the same value. If the engine keeps a change log, as SQLite
/// files and in-memory engines do, they also observe foreign changes, including those of other processes; otherwise
/// they read them at the next change and by ``reload()``.
///
/// The bytes under the key are the JSON `{"value":…}`. If stored bytes cannot be decoded, the property has its default
/// value; a new value does not overwrite these bytes: ``undecodableData()`` returns them.
@propertyWrapper
public struct AsyncStoredValue<Item: StorableItem>: Sendable {
    let core: AsyncValueCore<Item>
    let enclosingObject = EnclosingObject()

    /// The key of a value without an explicit one. Several values in one engine need different keys.
    ///
    /// It is `unique-value`, as in Boutique 2, so that each reads the value of the other.
    public static var defaultKey: String { CacheKey.uniqueValue.rawValue }

    /// Creates a value in an engine.
    ///
    /// - Parameters:
    ///   - wrappedValue: The value while none is stored.
    ///   - key: The key of the value in the engine; by default, ``defaultKey``.
    ///   - storage: The engine.
    public init(wrappedValue: Item, key: String = Self.defaultKey, storage: any StorageEngine) {
        self.init(key: key, default: wrappedValue, storage: storage)
    }

    /// Creates a value in an engine.
    ///
    /// - Parameters:
    ///   - key: The key of the value in the engine; by default, ``defaultKey``.
    ///   - defaultValue: The value while none is stored.
    ///   - storage: The engine.
    public init(key: String = Self.defaultKey, default defaultValue: Item, storage: any StorageEngine) {
        core = AsyncValueCore(.shared(storage, key: CacheKey(key)), default: defaultValue)
    }

    /// Creates an optional value in an engine, which is `nil` while none is stored.
    ///
    /// - Parameters:
    ///   - key: The key of the value in the engine; by default, ``defaultKey``.
    ///   - storage: The engine.
    public init(key: String = Self.defaultKey, storage: any StorageEngine) where Item: ExpressibleByNilLiteral {
        self.init(key: key, default: nil, storage: storage)
    }

    /// The value; the default value until the stored value has been read.
    public var wrappedValue: Item { core.current }

    /// The wrapper itself, for changing the value.
    public var projectedValue: AsyncStoredValue<Item> { self }

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
        wrapped wrappedKeyPath: KeyPath<Instance, Item>,
        storage storageKeyPath: ReferenceWritableKeyPath<Instance, Self>
    ) -> Item {
        instance[keyPath: storageKeyPath].attached(to: instance).wrappedValue
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

extension AsyncStoredValue {

    /// Waits until the value has been read. If reading has failed, it reads again.
    ///
    /// - Throws: A `StorageError` if the value cannot be read, with the code `decodingFailed` if the stored bytes
    ///   cannot be decoded.
    public func valueHasLoaded() async throws {
        try await core.load()
    }

    /// Reads the value again, to observe foreign changes in the engine.
    ///
    /// - Throws: A `StorageError` if the value cannot be read, with the code `decodingFailed` if the stored bytes
    ///   cannot be decoded.
    public func reload() async throws {
        try await core.reload()
    }

    /// Emits the current value to each new subscriber, then each new value, on the main actor.
    public var publisher: AnyPublisher<Item, Never> { core.publisher }

    /// The current value, then each new value.
    ///
    /// Each call returns an independent stream, which buffers the newest 256 values.
    public var values: AsyncStream<Item> { publisher.stream }

    /// The error of the last write or read, or `nil` if both succeeded. The Observation framework tracks it.
    public var lastError: (any Error)? { core.lastError }

    /// All bytes of this value that could not be decoded.
    ///
    /// They are the bytes that are stored now, if they cannot be decoded, and those that a new value has replaced. The
    /// latter are kept under the value's key with the suffix `.undecodable`, then `.undecodable-2` and so on.
    ///
    /// - Returns: The bytes, the oldest first; an empty array if all could be decoded.
    /// - Throws: A `StorageError` if they could not be read.
    public func undecodableData() async throws -> [Data] {
        try await core.undecodableData()
    }

    /// Removes the undecodable bytes that a new value has replaced.
    ///
    /// The bytes that are stored now are not removed, even if they cannot be decoded.
    ///
    /// - Throws: A `StorageError` if they could not be removed.
    public func removeUndecodableData() async throws {
        try await core.removeUndecodableData()
    }
}
