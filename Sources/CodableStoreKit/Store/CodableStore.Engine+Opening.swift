import Bodega
import Foundation

extension CodableStore.Engine {

    /// Opens the collection of `Object`.
    func open(in container: CodableStoreContainer) throws -> any ObjectCollection<Object> {
        switch home {
        case .collection(let collection):
            collection.observers.setTypeObservers(TypeObservers.calls(in: container, of: self))
            return collection
        case .medium(let medium):
            let core = try CollectionRegistry.core(of: Object.self, in: container, on: medium)
            let collection = RecordObjects<Object>(core)
            collection.observers.setTypeObservers(TypeObservers.calls(in: container, of: self))
            PendingObservers.begin(at: place(in: container, on: medium), with: collection.observers)
            return collection
        }
    }

    /// Returns the identity of the collection of `Object`, or `nil` for a custom engine, which need not be opened.
    func place(in container: CodableStoreContainer) -> PendingObservers.Place? {
        if case .medium(let medium) = home { place(in: container, on: medium) } else { nil }
    }

    private func place(in container: CodableStoreContainer, on medium: CodableStoreMedium) -> PendingObservers.Place {
        PendingObservers.Place(medium: medium.resolved, container: container, type: ObjectIdentifier(Object.self))
    }

    /// A closure that returns the engine while it exists. A collection must not retain its engine, because the engine
    /// may retain the collection.
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
    /// The default folder of stores.
    fileprivate static var codableStoreKit: FileManager.Directory {
        #if canImport(Darwin)
        .documents(appendingPath: "CodableStoreKit")
        #else
        // All programs share this folder, but must not share their collections by accident.
        .applicationSupport(appendingPath: ProcessInfo.processInfo.processName + "/CodableStoreKit")
        #endif
    }
}
