import Bodega
import Foundation

/// The secrets of a service and group as a ``ValueStorage``, for ``SecurelyStoredValue``.
///
/// A writer first takes the storage's exclusive access, then the turn of ``SecretLocation``. The former excludes other
/// processes if the storage supports it, the latter other threads; both may be taken again by their holder.
struct SecretValues: ValueStorage {
    private let storage: any SecretStorage
    private let service: KeychainService
    private let group: KeychainGroup?
    private let place: SecretLocation
    private let lockTimeout: LockTimeout

    /// - Parameters:
    ///   - storage: The storage of the secrets.
    ///   - address: The address of one of them; its service and group are used.
    ///   - lockTimeout: How long to wait for other threads.
    init(_ storage: any SecretStorage, _ address: SecretAddress, lockTimeout: LockTimeout = .standard) {
        self.storage = storage
        self.lockTimeout = lockTimeout
        service = address.service
        group = address.group
        place = SecretLocation.of(storage.scope, address)
    }

    private func address(_ name: String) -> SecretAddress {
        SecretAddress(key: name, service: service, group: group)
    }

    func load(_ name: String) throws -> Data? {
        do {
            return try storage.read(address(name))
        } catch let error as KeychainError where error.code == .undecodable {
            throw DamagedValue(cause: error)
        }
    }

    func save(_ data: Data?, _ name: String) throws {
        if let data {
            try storage.write(data, to: address(name))
        } else {
            try storage.remove(address(name))
        }
    }

    func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        // In this order, because a caller with exclusive access to the storage may use values.
        try storage.exclusively { try place.turn.take(lockTimeout, "the secrets of one storage", body) }
    }

    var observers: ValueObservers { place.observers }

    func observe(_ name: String, _ onChange: @escaping ValueObservers.Observer) -> ValueObservation {
        observers.add(name, onChange)
    }
}

/// The state of all wrappers of a service and group in a storage in this process: the observers and the writers' lock.
final class SecretLocation: Sendable {
    let observers = ValueObservers()
    /// Shared by all places of a storage, so that changes of several services can be nested in any order.
    let turn: TurnLock

    private struct Name: Hashable {
        var scope: String
        var service: KeychainService
        var group: KeychainGroup?
    }

    private static let turns = SharedObjects<String, TurnLock>()
    private static let places = SharedObjects<Name, SecretLocation>()

    private init(_ turn: TurnLock) {
        self.turn = turn
    }

    /// The place for a service and group, the same object for each call while one is in use.
    static func of(_ scope: String, _ address: SecretAddress) -> SecretLocation {
        let name = Name(scope: scope, service: address.service, group: address.group)
        return places.object(for: name, orNew: SecretLocation(turns.object(for: scope, orNew: TurnLock())))
    }
}
