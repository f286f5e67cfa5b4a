public import Bodega
public import Foundation

#if canImport(Combine)
public import Combine
#else
public import OpenCombine
#endif

/// A value that is kept in a storage engine.
///
/// ```swift
/// @AsyncStoredValue(key: "hasHapticsEnabled", storage: SQLiteStorageEngine.default(appendingPath: "Settings"))
/// var hasHapticsEnabled = false
///
/// try await $hasHapticsEnabled.toggle()
/// ```
///
/// It is like ``StoredValue``, but an engine takes its time and can fail, so the value is changed by calls that are
/// `async` and throw. They take effect one after the other, after the value has been read. A change is stored first and
/// then told, on the main actor; both has happened when the call returns. If it throws, nothing has changed.
///
/// The value is read in the background when the property is made. Until then it is the default value;
/// ``valueHasLoaded()`` waits for it. If it cannot be read, changes throw, because they could destroy what is there; each
/// one tries again.
///
/// All wrappers with one key and one engine object show the same value. Changes by others, also by other processes, are
/// seen at once if the engine keeps a history, as those on SQLite files and in memory do; else at the next change and by
/// ``reload()``.
///
/// The bytes under the key are the JSON `{"value":…}`. Bytes that cannot be decoded make the property show its default
/// value; they are not lost when it is set: ``undecodableData()`` has them.
@propertyWrapper
public struct AsyncStoredValue<Item: StorableItem>: Sendable {
    let core: AsyncValueCore<Item>
    let enclosingObject = EnclosingObject()

    /// The key of a value that is not given one: several values need keys, or engines, of their own.
    ///
    /// It is `unique-value`, as in Boutique 2: each finds what the other has stored. Before, it was `async-stored-value`
    /// here. A value under that key is read as well; it wins over one under `unique-value`, because only what was written
    /// before it can be there: each change writes the value under `unique-value` and removes it from the former key.
    public static var defaultKey: String { CacheKey.uniqueValue.rawValue }

    /// Creates a value in an engine.
    ///
    /// - Parameters:
    ///   - wrappedValue: What the value is as long as none has been stored.
    ///   - key: The key that it is stored under; ``defaultKey`` if it is left out.
    ///   - storage: The engine to keep it in.
    public init(wrappedValue: Item, key: String = Self.defaultKey, storage: any StorageEngine) {
        self.init(key: key, default: wrappedValue, storage: storage)
    }

    /// Creates a value in an engine.
    ///
    /// - Parameters:
    ///   - key: The key that it is stored under; ``defaultKey`` if it is left out.
    ///   - defaultValue: What the value is as long as none has been stored.
    ///   - storage: The engine to keep it in.
    public init(key: String = Self.defaultKey, default defaultValue: Item, storage: any StorageEngine) {
        core = AsyncValueCore(.shared(storage, key: CacheKey(key)), default: defaultValue)
    }

    /// Creates an optional value in an engine, `nil` as long as none has been stored.
    ///
    /// - Parameters:
    ///   - key: The key that it is stored under; ``defaultKey`` if it is left out.
    ///   - storage: The engine to keep it in.
    public init(key: String = Self.defaultKey, storage: any StorageEngine) where Item: ExpressibleByNilLiteral {
        self.init(key: key, default: nil, storage: storage)
    }

    /// The value; the default value until it has been read.
    public var wrappedValue: Item { core.current }

    /// The wrapper itself, by which the value is changed.
    public var projectedValue: AsyncStoredValue<Item> { self }

    // The compiler finds these only here, not in an extension.

    /// The value, read through an object that the property belongs to.
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
        wrapped wrappedKeyPath: KeyPath<Instance, Item>,
        storage storageKeyPath: ReferenceWritableKeyPath<Instance, Self>
    ) -> Item {
        instance[keyPath: storageKeyPath].attached(to: instance).wrappedValue
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

extension AsyncStoredValue {

    /// Waits until the value has been read. If that has failed, it tries again.
    ///
    /// - Throws: A `StorageError` if the value cannot be read, with the code `decodingFailed` if what is stored cannot be
    ///   decoded.
    public func valueHasLoaded() async throws {
        try await core.load()
    }

    /// Reads the value again, to see what others have changed in the engine.
    ///
    /// - Throws: A `StorageError` if the value cannot be read, with the code `decodingFailed` if what is stored cannot be
    ///   decoded.
    public func reload() async throws {
        try await core.reload()
    }

    /// Emits the current value to each new subscriber and then each new one, on the main actor.
    public var publisher: AnyPublisher<Item, Never> { core.publisher }

    /// The current value and then each new one.
    ///
    /// Each call makes a stream of its own. A stream that is not read keeps the newest 256 values.
    public var values: AsyncStream<Item> { publisher.stream }

    /// Why the value could not be stored or read the last time, or `nil` if that succeeded. The Observation framework
    /// tracks it.
    public var lastError: (any Error)? { core.lastError }

    /// All bytes of this value that could not be decoded.
    ///
    /// They are those that are stored now, if they cannot be decoded, and those that were stored when the value was set
    /// in spite of it. The latter are kept under the value's key with `.undecodable` behind it, further ones with
    /// `.undecodable-2` and so on.
    ///
    /// - Returns: The bytes, the oldest first; empty if everything could be decoded.
    /// - Throws: A `StorageError` if they could not be read.
    public func undecodableData() async throws -> [Data] {
        try await core.undecodableData()
    }

    /// Removes for good the bytes that were kept when the value was set although they could not be decoded.
    ///
    /// What is stored now stays, also if it cannot be decoded.
    ///
    /// - Throws: A `StorageError` if they could not be removed.
    public func removeUndecodableData() async throws {
        try await core.removeUndecodableData()
    }
}
