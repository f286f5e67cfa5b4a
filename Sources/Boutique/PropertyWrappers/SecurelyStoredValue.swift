import Bodega
import Foundation

#if canImport(Combine)
public import Combine
#else
public import OpenCombine
#endif

/// A value that is kept as a secret: in the keychain, or in an encrypted file where there is no keychain.
///
/// ```swift
/// @SecurelyStoredValue<String>(key: "token")
/// var token
///
/// try $token.set("abc")
/// login(with: token)
/// try $token.remove()
/// ```
///
/// The property is an optional, `nil` while there is no secret. It is read like any other; it is changed through its
/// projected value, because storing a secret can fail: `set(_:)`, ``remove()`` and helpers such as `append(_:)` and
/// `toggle()`, which throw a ``KeychainError``. If one throws, the secret is what it was.
///
/// All wrappers with the same key, service, group and storage show the same value at any time. What other processes set
/// is seen when the property is read the next time. The value may be used on any thread; the helpers change it in one
/// step, so no change is lost.
///
/// In a class that is an `ObservableObject`, `objectWillChange` fires at each change, on the thread that makes it, before
/// publishers emit it. The property shows the new value already. The Observation framework tracks who reads the value.
///
/// ## What is stored
/// The bytes of the secret are the JSON `{"value":…}`. ``KeychainSecretStorage`` keeps them where there is a keychain,
/// ``EncryptedFileSecretStorage`` elsewhere; their documentation says what they protect against. Any other
/// ``SecretStorage`` can be passed instead. What has been read stays in the memory of the process.
///
/// ## When something fails
/// Reading the property cannot throw. It shows `nil` for a secret that is damaged or is not such a value, and what was
/// read last while the secret cannot be read, such as from a locked keychain; both are logged. ``fetch()`` throws
/// instead. A damaged secret and one of another type are not lost: they stay until the value is set and are then kept
/// aside; see ``undecodableData()``. Only `set(_:)` and ``remove()`` replace them; the helpers that start from the value
/// before throw. What an undecodable secret contains is never part of an error or of the log.
@propertyWrapper
public struct SecurelyStoredValue<Item: StorableItem>: Sendable {
    let core: ValueCore<Item?>
    let enclosingObject = EnclosingObject()

    /// Where the secret is.
    public let address: SecretAddress

    /// Creates a value that is kept as a secret.
    ///
    /// - Parameters:
    ///   - key: The name of the secret within its service.
    ///   - service: What the secret belongs to; ``KeychainService/default``, this program, if it is left out.
    ///   - group: The group of apps that share the secret; none if it is left out.
    ///   - storage: Where to keep it; the keychain or an encrypted file in the user's data folder if it is left out.
    public init(
        key: String,
        service: KeychainService? = nil,
        group: KeychainGroup? = nil,
        storage: (any SecretStorage)? = nil
    ) {
        address = SecretAddress(key: key, service: service, group: group)
        core = ValueCore(
            key: key,
            default: nil,
            storage: SecretValues(storage ?? standardSecretStorage(), address),
            undecodablePolicy: .refuse,
            coding: .secret()
        )
    }

    /// Creates a value that is kept as a secret, with a key from a list of keys.
    ///
    /// - Parameters:
    ///   - key: The name of the secret within its service, such as the case of an enumeration of strings.
    ///   - service: What the secret belongs to; ``KeychainService/default``, this program, if it is left out.
    ///   - group: The group of apps that share the secret; none if it is left out.
    ///   - storage: Where to keep it; the keychain or an encrypted file in the user's data folder if it is left out.
    public init(
        key: some RawRepresentable<String>,
        service: KeychainService? = nil,
        group: KeychainGroup? = nil,
        storage: (any SecretStorage)? = nil
    ) {
        self.init(key: key.rawValue, service: service, group: group, storage: storage)
    }

    /// The value, or `nil` if there is none or it cannot be decoded.
    public var wrappedValue: Item? { core.current }

    /// The wrapper itself, for what else it can do.
    public var projectedValue: SecurelyStoredValue<Item> { self }

    /// Emits the current value to each new subscriber and then each new one, on the thread that makes the change.
    public var publisher: AnyPublisher<Item?, Never> { core.publisher }

    /// The current value and then each new one.
    ///
    /// Each call makes a stream of its own. A stream that is not read keeps the newest 256 values.
    public var values: AsyncStream<Item?> { core.values }

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
        wrapped wrappedKeyPath: KeyPath<Instance, Item?>,
        storage storageKeyPath: ReferenceWritableKeyPath<Instance, Self>
    ) -> Item? {
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

/// What secrets are kept in if nothing else is asked for.
private func standardSecretStorage() -> any SecretStorage {
    #if canImport(Security)
    KeychainSecretStorage()
    #else
    EncryptedFileSecretStorage()
    #endif
}
