import Bodega
import Foundation

/// A secret value: in the keychain, or in an encrypted file on platforms without a keychain.
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
/// The property is an optional, which is `nil` while there is no secret. It is read like any other. It is changed by
/// its projected value, because storing a secret can fail: `set(_:)`, ``remove()`` and helpers such as `append(_:)` and
/// `toggle()` throw a ``KeychainError``, and leave the secret unchanged if they do.
///
/// All wrappers with the same key, service, group and storage always have the same value. Changes by other processes
/// are visible at the next read. The value may be used on any thread; the helpers are atomic, so no change is lost.
///
/// In a class that is an `ObservableObject`, `objectWillChange` fires at each change, on the thread that makes it,
/// before publishers emit it. The property already has the new value. The Observation framework tracks its reads.
///
/// ## What is stored
/// The bytes of the secret are the JSON `{"value":…}`. ``KeychainSecretStorage`` keeps them on platforms with a
/// keychain, ``EncryptedFileSecretStorage`` on others; their documentation says what they protect against. Any other
/// ``SecretStorage`` can be passed instead, such as `SecretServiceStorage` for the keyring of a Linux desktop. Secrets
/// that were read stay in the memory of the process.
///
/// ## When something fails
/// Reading the property cannot throw. It is `nil` for a secret that is damaged or has another type, and the value that
/// was read last while the secret cannot be read, for example from a locked keychain; both are logged. ``fetch()``
/// throws instead. A damaged secret and one of another type are not overwritten: they stay until the value is set and
/// are then kept aside; see ``undecodableData()``. Only `set(_:)` and ``remove()`` replace them; the helpers, which
/// start from the stored value, throw. Errors and log messages never contain an undecodable secret.
@propertyWrapper
public struct SecurelyStoredValue<Item: StorableItem>: Sendable {
    let core: ValueCore<Item?>
    let enclosingObject = EnclosingObject()

    /// The address of the secret.
    public let address: SecretAddress

    /// Creates a secret value.
    ///
    /// - Parameters:
    ///   - key: The name of the secret within its service.
    ///   - service: The owner of the secret; by default, this program: ``KeychainService/default``.
    ///   - group: The group of apps that share the secret; by default, none.
    ///   - storage: The storage; by default, the keychain or encrypted files in the user's data folder.
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

    /// Creates a secret value with a key from a list of keys.
    ///
    /// - Parameters:
    ///   - key: The name of the secret within its service, such as the case of an enumeration of strings.
    ///   - service: The owner of the secret; by default, this program: ``KeychainService/default``.
    ///   - group: The group of apps that share the secret; by default, none.
    ///   - storage: The storage; by default, the keychain or encrypted files in the user's data folder.
    public init(
        key: some RawRepresentable<String>,
        service: KeychainService? = nil,
        group: KeychainGroup? = nil,
        storage: (any SecretStorage)? = nil
    ) {
        self.init(key: key.rawValue, service: service, group: group, storage: storage)
    }

    /// The value; `nil` if there is none or it cannot be decoded.
    public var wrappedValue: Item? { core.current }

    /// The wrapper itself, for its other members.
    public var projectedValue: SecurelyStoredValue<Item> { self }

    /// Emits the current value to each new subscriber, then each new value, on the thread that makes the change.
    public var publisher: AnyPublisher<Item?, Never> { core.publisher }

    /// The current value, then each new value.
    ///
    /// Each call returns an independent stream, which buffers the newest 256 values.
    public var values: AsyncStream<Item?> { core.values }

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
        wrapped wrappedKeyPath: KeyPath<Instance, Item?>,
        storage storageKeyPath: ReferenceWritableKeyPath<Instance, Self>
    ) -> Item? {
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

/// The default storage of secrets.
private func standardSecretStorage() -> any SecretStorage {
    if let storage = TemporaryStorage.current { return storage.object { TemporarySecrets(in: storage) } }
    #if canImport(Security)
    return KeychainSecretStorage()
    #else
    return EncryptedFileSecretStorage()
    #endif
}
