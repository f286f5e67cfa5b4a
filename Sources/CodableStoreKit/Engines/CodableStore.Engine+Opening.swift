import Bodega
import Foundation

extension CodableStore.Engine {

    /// Opens the collection of the store's type.
    func open(in container: CodableStoreContainer) throws -> any ObjectCollection<Object> {
        switch self {
        case .custom(let engine): engine.collection
        case .fileSystem: try open(.fileSystem(in: .codableStoreKit), container)
        case .sqlite: try open(.sqlite(in: .codableStoreKit), container)
        case .inMemory: try open(.sharedMemory, container)
        case .at(let medium): try open(medium, container)
        }
    }

    private func open(
        _ medium: CodableStoreMedium,
        _ container: CodableStoreContainer
    ) throws -> any ObjectCollection<Object> {
        RecordObjects<Object>(try CollectionRegistry.core(of: Object.self, in: container, on: medium))
    }
}

extension FileManager.Directory {
    /// Where stores keep their objects unless they are told otherwise.
    fileprivate static var codableStoreKit: FileManager.Directory {
        #if canImport(Darwin)
        .documents(appendingPath: "CodableStoreKit")
        #else
        // Programs share the folder for their data, and must not share their collections without knowing.
        .applicationSupport(appendingPath: ProcessInfo.processInfo.processName + "/CodableStoreKit")
        #endif
    }
}
