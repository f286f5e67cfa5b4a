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

    private let opening = Locked(Opening())

    typealias OpenCollection = any ObjectCollection<Object>

    /// How far the collection is opened.
    private struct Opening {
        var collection: OpenCollection?
        /// Who observes as soon as it can be opened.
        var pending: [PendingObserver<Object>] = []
    }

    /// The store's collection, opened with the first use.
    func collection() throws -> OpenCollection {
        try opening.withLock { try collection(&$0) }
    }

    /// Adds an observer of the changes from now on; if the collection can't be opened, from when it is.
    ///
    /// - Parameter call: What is called with each change.
    /// - Returns: What ends the observation, and why the collection could not be opened.
    func addObserver(
        _ call: @escaping Observers<Object>.Call
    ) -> (subscription: ObserverableCodableStoreSubscription, failure: (any Error)?) {
        opening.withLock { state in
            do {
                return (try collection(&state).observers.add(call), nil)
            } catch {
                let observer = PendingObserver(call)
                state.pending.append(observer)
                let subscription = ObserverableCodableStoreSubscription { [opening] in
                    opening.withLock { state in state.pending.removeAll { $0 === observer } }
                    observer.end()
                }
                return (subscription, error)
            }
        }
    }

    private func collection(_ opening: inout Opening) throws -> OpenCollection {
        if let collection = opening.collection { return collection }
        let collection = try engine.open(in: container)
        opening.collection = collection
        for observer in opening.pending { observer.begin(with: collection.observers) }
        opening.pending = []
        return collection
    }
}

extension CodableStore: Sendable where Object: Sendable {}
