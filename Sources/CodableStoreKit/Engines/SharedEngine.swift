import Bodega

/// An SQLite engine that is shared with others, told apart by its identity.
struct SharedEngine: Sendable, Hashable {
    let engine: SQLiteStorageEngine

    static func == (left: SharedEngine, right: SharedEngine) -> Bool {
        left.engine === right.engine
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(engine))
    }
}
