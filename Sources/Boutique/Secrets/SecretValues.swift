import Bodega
import Foundation

/// The secrets of a service and group as the bytes of values, for the core of ``SecurelyStoredValue``.
struct SecretValues: ValueStorage {
    private let storage: any SecretStorage
    private let service: KeychainService
    private let group: KeychainGroup?
    private let place: SecretPlace

    /// - Parameters:
    ///   - storage: Where the secrets are.
    ///   - address: Where one of them is; its service and group count.
    init(_ storage: any SecretStorage, _ address: SecretAddress) {
        self.storage = storage
        service = address.service
        group = address.group
        place = SecretPlace.of(storage.scope, address)
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
        // In this order, because whoever has the storage for himself may use values.
        try storage.exclusively { try place.taking(body) }
    }

    var observers: ValueObservers { place.observers }

    func observe(_ name: String, _ onChange: @escaping ValueObservers.Observer) -> ValueObservation {
        observers.add(name, onChange)
    }
}

/// What this process has once for a service and group in a storage, however many wrappers and storages lead there: who
/// observes, and whose turn it is.
final class SecretPlace: Sendable {
    let observers = ValueObservers()
    private let turn = NSRecursiveLock()

    private struct Name: Hashable {
        var scope: String
        var service: KeychainService
        var group: KeychainGroup?
    }

    private struct Weak {
        weak var place: SecretPlace?
    }

    private static let places = Locked<[Name: Weak]>([:])

    /// The place for a service and group, the same for all who use it at a time.
    static func of(_ scope: String, _ address: SecretAddress) -> SecretPlace {
        let name = Name(scope: scope, service: address.service, group: address.group)
        return places.withLock { places in
            if let place = places[name]?.place { return place }
            // Each storage in memory is a place of its own, so those that are gone must not pile up.
            places = places.filter { $0.value.place != nil }
            let place = SecretPlace()
            places[name] = Weak(place: place)
            return place
        }
    }

    /// Runs a closure while no other thread does.
    func taking<Result>(_ body: () throws -> Result) throws -> Result {
        turn.lock()
        defer { turn.unlock() }
        return try body()
    }
}
