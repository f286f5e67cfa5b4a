import Bodega
import Foundation

extension CodableStore.Engine {

    /// Opens the collection of `Object`.
    func open(in container: CodableStoreContainer) throws -> any ObjectCollection<Object> {
        switch home {
        case .collection(let collection):
            collection.observers.setTypeObservers(TypeObservers.calls(in: container, of: self))
            return collection
        case .location(let location):
            let core = try CollectionRegistry.core(of: Object.self, in: container, on: location)
            let collection = RecordObjects<Object>(core)
            collection.observers.setTypeObservers(TypeObservers.calls(in: container, of: self))
            return collection
        }
    }

    /// Begins the observations that could not begin before the collection was opened.
    func beginPendingObservers(of collection: any ObjectCollection<Object>, in container: CodableStoreContainer) {
        guard case .location(let location) = home else { return }
        PendingObservers.begin(at: place(in: container, on: location), with: collection.observers)
    }

    /// Returns the identity of the collection of `Object`, or `nil` for a custom engine, which need not be opened.
    func place(in container: CodableStoreContainer) -> PendingObservers.Place? {
        if case .location(let location) = home { place(in: container, on: location) } else { nil }
    }

    private func place(in container: CodableStoreContainer, on location: CodableStoreLocation) -> PendingObservers.Place
    {
        PendingObservers.Place(location: location.resolved, container: container, type: ObjectIdentifier(Object.self))
    }

    /// A closure that returns the engine while it exists. A collection must not retain its engine, because the engine
    /// may retain the collection.
    var unretained: () -> CodableStore<Object>.Engine? {
        switch self {
        case .fileSystem, .inMemory, .sqlite: { self }
        case .custom(let engine): { [weak kept = engine.collection] in kept.map { .custom(AnyCodableStoreEngine($0)) } }
        case .at(let location):
            switch location.place {
            case .folder, .sqliteFile: { self }
            case .memory(let place): { [weak place] in place.map { .at(CodableStoreLocation(place: .memory($0))) } }
            case .sqliteEngine(let shared): { [weak engine = shared.engine] in engine.map { .at(.sqlite($0)) } }
            }
        }
    }

    private enum Home {
        case collection(CustomCollection<Object>)
        case location(CodableStoreLocation)
    }

    private var home: Home {
        switch self {
        case .custom(let engine): .collection(engine.collection)
        case .fileSystem: .location(.fileSystem(in: .codableStoreKit))
        case .sqlite: .location(.sqlite(in: .codableStoreKit))
        case .inMemory: .location(CodableStoreLocation(place: .memory(.current)))
        case .at(let location): .location(location)
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
