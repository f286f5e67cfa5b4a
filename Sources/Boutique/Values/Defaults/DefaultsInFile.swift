import Bodega
import Foundation
import Logging

/// Values in a ``DefaultsFile``, in place of user defaults that do not reliably keep values.
///
/// Measured on Linux with Swift 6.3: a value is lost without `synchronize()`, which truncates the file before it
/// rewrites it; of 800 values that four processes set concurrently, 316 remained. `set` alone takes 8 µs, so the file
/// may take twice as long.
///
/// A value that only the user defaults contain is copied into the file when it is observed, which is before the first
/// read. A new value is also set in the user defaults, for other code of this process that reads them.
struct DefaultsInFile: ValueStorage, @unchecked Sendable {
    // @unchecked because `UserDefaults` may be used on any thread.
    let file: DefaultsFile
    let domain: String
    let defaults: UserDefaults

    private var platform: PlatformDefaults { PlatformDefaults(defaults, domain: domain) }

    func load(_ name: String) throws -> Data? {
        if let data = try file.load(name) { return data }
        return try platform.load(name)
    }

    func save(_ data: Data?, _ name: String) throws {
        try file.save(data, name)
        if let data {
            defaults.set(data, forKey: name)
        } else if defaults.object(forKey: name) != nil {
            // Otherwise `load` would return that value.
            try platform.save(nil, name)
        }
    }

    func flush() throws { try file.flush() }

    func presets(_ name: String, insteadOf stored: Data?) -> [Data] {
        platform.presets(name, insteadOf: stored)
    }

    func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        try file.exclusively(body)
    }

    var observers: ValueObservers { file.observers }

    func observe(_ name: String, _ onChange: @escaping ValueObservers.Observer) -> ValueObservation {
        importValue(name)
        return file.observe(name, onChange)
    }

    /// Copies a value that only the user defaults contain.
    private func importValue(_ name: String) {
        do {
            // Launch arguments and registered defaults are not stored in the user defaults, and must not be stored
            // here.
            // The domain is a copy of all its values, so it is read only if there is something to copy.
            guard try file.load(name) == nil, defaults.object(forKey: name) != nil,
                let object = defaults.persistentDomain(forName: domain)?[name]
            else { return }
            let data = try PlatformDefaults.bytes(of: object)
            try file.exclusively {
                // Another process may have copied it first.
                if try file.load(name) == nil { try file.save(data, name) }
            }
        } catch {
            boutiqueLogger.warning(
                "A value could not be copied from the user defaults. It is still there.",
                metadata: ["key": "\(name)", "error": "\(error)"]
            )
        }
    }
}
