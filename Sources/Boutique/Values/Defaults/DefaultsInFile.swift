import Bodega
import Foundation
import Logging

/// Values in a ``DefaultsFile`` that stands in for user defaults that do not keep what is set.
///
/// Measured on Linux with Swift 6.3: what is set is lost without `synchronize()`, which cuts the file off before it writes
/// it anew; of 800 values that four processes set at a time, 316 were left.
///
/// A value that only the user defaults have is copied into the file when it is observed, which is before the first read. A
/// value that is set is also set there, for code of this process that reads it there.
struct DefaultsInFile: ValueStorage, @unchecked Sendable {
    // @unchecked because `UserDefaults` may be used on any thread.
    let file: DefaultsFile
    let domain: String
    let defaults: UserDefaults

    private var platform: PlatformDefaults { PlatformDefaults(defaults) }

    func load(_ name: String) throws -> Data? {
        if let data = try file.load(name) { return data }
        return try platform.load(name)
    }

    func save(_ data: Data?, _ name: String) throws {
        try file.save(data, name)
        if let data {
            defaults.set(data, forKey: name)
        } else if defaults.object(forKey: name) != nil {
            // Else the value would come back from there.
            try platform.save(nil, name)
        }
    }

    func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        try file.exclusively(body)
    }

    var observers: ValueObservers { file.observers }

    func observe(_ name: String, _ onChange: @escaping ValueObservers.Observer) -> ValueObservation {
        takeOver(name)
        return file.observe(name, onChange)
    }

    /// Copies a value that only the user defaults have.
    private func takeOver(_ name: String) {
        do {
            // What was only registered, as a default, is not stored there and must not be here.
            guard try file.load(name) == nil, defaults.persistentDomain(forName: domain)?[name] != nil,
                let data = try platform.load(name)
            else { return }
            try file.exclusively {
                // Another process may have been faster.
                if try file.load(name) == nil { try file.save(data, name) }
            }
        } catch {
            boutiqueLogger.warning(
                "A value in the user defaults could not be copied; it stays there.",
                metadata: ["key": "\(name)", "error": "\(error)"]
            )
        }
    }
}
