import Bodega

extension CodableStore.Engine {

    /// Opens the collection of a type.
    func open(
        _ type: Object.Type,
        in container: CodableStoreContainer
    ) throws -> any ObjectCollection<Object> {
        switch self {
        case .custom(let engine): engine.collection
        case .fileSystem, .inMemory, .sqlite, .at: fatalError("Not there yet.")
        }
    }
}
