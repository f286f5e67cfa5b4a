import Bodega
import Foundation

/// Values in the platform's user defaults.
final class PlatformDefaults: ValueStorage, @unchecked Sendable {
    // @unchecked because `UserDefaults` may be used on any thread.
    private let defaults: UserDefaults
    /// The name of the suite; `nil` if it is unknown.
    private let domain: String?

    // Several objects can represent the same defaults, so all share these.
    private static let turn = TurnLock()
    private static let sharedObservers = ValueObservers()

    init(_ defaults: UserDefaults, domain: String? = nil) {
        self.defaults = defaults
        self.domain = domain
    }

    func load(_ name: String) throws -> Data? {
        guard let object = defaults.object(forKey: name) else { return nil }
        if let data = object as? Data { return data }
        return Self.arguments[name] != nil || isRegistered(object, name) ? nil : try Self.bytes(of: object)
    }

    /// Returns an object that is stored under the key of a value. If other code has stored another type, its bytes are
    /// undecodable, so they are kept.
    static func bytes(of object: Any) throws -> Data {
        try object as? Data ?? PropertyListSerialization.data(fromPropertyList: object, format: .binary, options: 0)
    }

    /// The forms of the launch arguments, by their keys. All user defaults of a process have the same.
    private static let arguments = UserDefaults.standard.volatileDomain(forName: UserDefaults.argumentDomain)
        .mapValues(PresetForms.of)

    func presets(_ name: String, insteadOf stored: Data?) -> [Data] {
        if let argument = Self.arguments[name] { return argument }
        if stored != nil { return [] }
        return defaults.object(forKey: name).map(PresetForms.of) ?? []
    }

    /// The form of ``presets(_:insteadOf:)`` that disregards what is stored in the user defaults. On other platforms
    /// than Apple's, it also disregards registered defaults, which can't be distinguished from it.
    func volatilePresets(_ name: String, insteadOf stored: Data?) -> [Data] {
        if let argument = Self.arguments[name] { return argument }
        #if canImport(Darwin)
        guard stored == nil, let object = defaults.object(forKey: name), isRegistered(object, name) else { return [] }
        return PresetForms.of(object)
        #else
        return []
        #endif
    }

    /// Returns whether the object under a key is a registered default.
    private func isRegistered(_ object: Any, _ name: String) -> Bool {
        #if canImport(Darwin)
        let registered = defaults.volatileDomain(forName: UserDefaults.registrationDomain)[name]
        return (registered as? NSObject)?.isEqual(object) ?? false
        #else
        // These user defaults don't return the registered ones.
        return domain.map { defaults.persistentDomain(forName: $0)?[name] == nil } ?? false
        #endif
    }

    func save(_ data: Data?, _ name: String) throws {
        if let data {
            defaults.set(data, forKey: name)
        } else {
            defaults.removeObject(forKey: name)
        }
        #if !canImport(Darwin)
        // Unsynchronized values are lost when the process ends.
        try flush()
        #endif
    }

    func flush() throws {
        if !defaults.synchronize() { throw StorageError(.inputOutput, "The user defaults could not be written.") }
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
