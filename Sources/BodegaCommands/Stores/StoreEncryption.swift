import Bodega
import Foundation

/// How the items of a store are encrypted.
struct StoreEncryption: Sendable {
    /// The keys that encrypt items.
    var keyset: EncryptionKeyset
    /// The keyset that hides the keys of the items, `nil` if they are not hidden.
    var keysetForKeys: EncryptionKeyset?
    /// The name of the collection that is authenticated with the items, `nil` for that of the store's address.
    var collection: String?

    /// Returns an engine that decrypts the items of another one, the collection of a name or the unnamed one.
    func decrypting(_ base: any StorageEngine, named name: String?) -> any StorageBackend {
        let collection = collection ?? name ?? ""
        guard let keysetForKeys else { return base.encrypted(with: keyset, collection: collection) }
        return base.encrypted(with: keyset, collection: collection, hidingKeysWith: keysetForKeys)
    }
}

extension OpenStore {

    /// Returns the store with items that are encrypted, or unchanged if there is no keyset.
    func decrypting(with encryption: StoreEncryption?) -> OpenStore {
        guard let encryption else { return self }
        var store = self
        store.encryption = encryption
        store.engine = encryption.decrypting(base, named: address.collection)
        return store
    }
}
