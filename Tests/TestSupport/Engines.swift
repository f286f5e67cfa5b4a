package import Bodega
import BodegaTesting
import Foundation

/// Opens the engine of a kind, `sqlite` or `disk`, in a folder.
package func openEngine(
    _ kind: String,
    at folder: TemporaryFolder,
    _ durability: StorageDurability = .full
) throws -> any StorageEngine {
    switch kind {
    case "sqlite": try SQLiteStorageEngine(opening: folder.directory, durability: durability)
    case "disk": try DiskStorageEngine(opening: folder.directory, durability: durability)
    default: fatalError("unknown engine \(kind)")
    }
}
