import Bodega

/// Keeps the objects of a type: saves, deletes, finds, watches and copies them, at once and on the caller's thread.
///
/// ```swift
/// let users = CodableStore<User>()
/// try users.save(User(id: "42", firstName: "Mr.", lastName: "Robot"))
/// let user = try users.get(identifier: "42")
/// ```
///
/// - When ``save(_:)-(Object)`` returns, the object survives a crash and a power failure.
/// - Stores are cheap, and any number of them, on any threads and in any processes, work on one collection at once.
/// - Objects are in the order in which they were first saved.
/// - An object that can't be decoded stays stored and hides no other; see ``fetchCollection()``.
///
/// Operations wait for the medium. From an actor, a Boutique store on the same engine is the better choice; see
/// ``CodableStore/Engine/sqlite(_:)``.
public final class CodableStore<Object: BaseCodableStoreable> {

    /// The section of the engine that the store works in.
    public let container: CodableStoreContainer

    /// What keeps the objects.
    public let engine: Engine

    /// Creates a store. Nothing is opened before the first operation, which is also where a failure to open shows.
    ///
    /// - Parameters:
    ///   - container: The section of the engine to work in.
    ///   - engine: What keeps the objects.
    public init(container: CodableStoreContainer = .default, engine: Engine = .fileSystem) {
        self.container = container
        self.engine = engine
    }

    private let opened = Locked<OpenCollection?>(nil)

    typealias OpenCollection = any ObjectCollection<Object>

    /// The store's collection, opened with the first use.
    func collection() throws -> OpenCollection {
        try opened.withLock { opened in
            if let opened { return opened }
            let collection = try engine.open(in: container)
            opened = collection
            return collection
        }
    }
}

extension CodableStore: Sendable where Object: Sendable {}
