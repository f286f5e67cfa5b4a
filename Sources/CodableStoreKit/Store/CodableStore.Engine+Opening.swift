import Bodega
import Foundation

extension CodableStore.Engine {

    /// Opens the collection of the store's type.
    func open(in container: CodableStoreContainer) throws -> any ObjectCollection<Object> {
        switch home {
        case .collection(let collection):
            collection.observers.setPlace(container, self)
            return collection
        case .medium(let medium):
            let core = try CollectionRegistry.core(of: Object.self, in: container, on: medium)
            let collection = RecordObjects<Object>(core)
            collection.observers.setPlace(container, self)
            PendingObservers.begin(at: place(in: container, on: medium), with: collection.observers)
            return collection
        }
    }

    /// Where the collection of the store's type is, `nil` if a custom engine has it, which need not be opened.
    func place(in container: CodableStoreContainer) -> PendingObservers.Place? {
        if case .medium(let medium) = home { place(in: container, on: medium) } else { nil }
    }

    private func place(in container: CodableStoreContainer, on medium: CodableStoreMedium) -> PendingObservers.Place {
        PendingObservers.Place(medium: medium.resolved, container: container, type: ObjectIdentifier(Object.self))
    }

    /// The engine as long as it is there, for a collection that it may keep, which therefore must not keep it.
    var unretained: () -> CodableStore<Object>.Engine? {
        switch self {
        case .fileSystem, .inMemory, .sqlite: { self }
        case .custom(let engine): { [weak kept = engine.collection] in kept.map { .custom(AnyCodableStoreEngine($0)) } }
        case .at(let medium):
            switch medium.place {
            case .folder, .sqliteFile: { self }
            case .memory(let place): { [weak place] in place.map { .at(CodableStoreMedium(place: .memory($0))) } }
            case .sqliteEngine(let shared): { [weak engine = shared.engine] in engine.map { .at(.sqlite($0)) } }
            }
        }
    }

    private enum Home {
        case collection(CustomCollection<Object>)
        case medium(CodableStoreMedium)
    }

    private var home: Home {
        switch self {
        case .custom(let engine): .collection(engine.collection)
        case .fileSystem: .medium(.fileSystem(in: .codableStoreKit))
        case .sqlite: .medium(.sqlite(in: .codableStoreKit))
        case .inMemory: .medium(.sharedMemory)
        case .at(let medium): .medium(medium)
        }
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
