import Bodega

/// What only some engines can do, and some checks need.
struct EnginePart: Sendable {
    let name: String
    let belongs: @Sendable (any StorageBackend) -> Bool

    static let log = EnginePart(name: "a log") { $0.log != nil }
    static let conditions = EnginePart(name: "conditional batches") { $0.traits.contains(.conditional) }
    static let positions = EnginePart(name: "stable positions") { $0.traits.contains(.stablePositions) }
}

extension Examination {

    /// The backend of an engine that must have a part. It is a violation if the engine lacks the part.
    func backend(of engine: any StorageEngine, with part: EnginePart) -> (any StorageBackend)? {
        let backend = engine.backend
        if part.belongs(backend) { return backend }
        record("the engine", expected: part.name, actual: "\(type(of: engine)) without")
        return nil
    }
}
