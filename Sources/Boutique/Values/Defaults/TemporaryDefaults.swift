import Bodega
import Foundation

/// Values in place of the standard user defaults while ``/Bodega/TemporaryStorage`` is in use.
///
/// Launch arguments count as in the user defaults, and so do registered defaults on Apple platforms; what the user
/// defaults store does not.
struct TemporaryDefaults: ValueStorage {
    private let file: DefaultsFile
    private let platform: PlatformDefaults

    private let storage: TemporaryStorage

    init(in storage: TemporaryStorage) {
        self.storage = storage
        file = storage.object {
            // No other process uses the file, and it need not survive a power failure.
            DefaultsFile(
                url: storage.folder("defaults").appendingPathComponent("standard.values", isDirectory: false),
                isWatched: false, surroundings: DefaultsFile.Surroundings(synchronize: { _, _ in }, delay: { _ in }))
        }
        platform = PlatformDefaults(.standard)
    }

    /// A value in a static property must not show what another test has stored.
    func load(_ name: String) throws -> Data? { storage.hasEnded ? nil : try file.load(name) }

    func save(_ data: Data?, _ name: String) throws { try file.save(data, name) }

    func flush() throws { try file.flush() }

    func presets(_ name: String, insteadOf stored: Data?) -> [Data] {
        platform.volatilePresets(name, insteadOf: stored)
    }

    func exclusively<Result>(_ body: () throws -> Result) throws -> Result { try file.exclusively(body) }

    var observers: ValueObservers { file.observers }

    func observe(_ name: String, _ onChange: @escaping ValueObservers.Observer) -> ValueObservation {
        file.observe(name, onChange)
    }
}
