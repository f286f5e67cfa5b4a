import Bodega
import Foundation

/// Values in the platform's user defaults.
final class PlatformDefaults: ValueStorage, @unchecked Sendable {
    // @unchecked because `UserDefaults` may be used on any thread.
    private let defaults: UserDefaults

    // Several objects can represent the same defaults, so all share these.
    private static let turn = TurnLock()
    private static let sharedObservers = ValueObservers()

    init(_ defaults: UserDefaults) {
        self.defaults = defaults
    }

    func load(_ name: String) throws -> Data? {
        guard let object = defaults.object(forKey: name) else { return nil }
        if let data = object as? Data { return data }
        // Other code has stored another type. Its bytes are undecodable, so they are kept.
        return try PropertyListSerialization.data(fromPropertyList: object, format: .binary, options: 0)
    }

    func save(_ data: Data?, _ name: String) throws {
        if let data {
            defaults.set(data, forKey: name)
        } else {
            defaults.removeObject(forKey: name)
        }
        #if !canImport(Darwin)
        // Unsynchronized values are lost when the process ends.
        if !defaults.synchronize() {
            throw StorageError(.inputOutput, "The user defaults could not be written.", key: CacheKey(verbatim: name))
        }
        #endif
    }

    func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        try Self.turn.take(.standard, "the user defaults", body)
    }

    var observers: ValueObservers { Self.sharedObservers }

    func observe(_ name: String, _ onChange: @escaping ValueObservers.Observer) -> ValueObservation {
        let own = observers.add(name, onChange)
        let foreign = DefaultsObserver(defaults, key: name) { [observers] in
            // Later, because this is also called during changes by this process.
            observers.scheduleCheck(name)
        }
        return ValueObservation { [own, foreign] in _ = (own, foreign) }
    }
}
