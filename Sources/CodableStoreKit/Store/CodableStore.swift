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
open class CodableStore<Object: BaseCodableStoreable> {

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

    /// The store, for reading only.
    open var readable: AnyReadableCodableStore<Object> { AnyReadableCodableStore(self) }

    /// The store, for writing only.
    open var writeable: AnyWriteableCodableStore<Object> { AnyWriteableCodableStore(self) }

    /// The store, for observing only.
    open var observable: AnyObserverableCodableStore<Object> { AnyObserverableCodableStore(self) }

    /// The store, for copying only.
    open var copyable: AnyCopyableCodableStore<Object> { AnyCopyableCodableStore(self) }

    typealias OpenCollection = any ObjectCollection<Object>

    private let opened = Locked<OpenCollection?>(nil)

    /// The store's collection, opened with the first use.
    func collection() throws -> OpenCollection {
        try opened.withLock { opened in
            if let collection = opened { return collection }
            let collection = try engine.open(in: container)
            opened = collection
            return collection
        }
    }

    /// Adds an observer of the changes from now on; if the collection can't be opened, from when any store has opened it.
    ///
    /// - Parameter call: What is called with each change.
    /// - Returns: What ends the observation, and why the collection could not be opened.
    func addObserver(
        _ call: @escaping Observers<Object>.Call
    ) -> (subscription: ObservableCodableStoreSubscription, failure: (any Error)?) {
        if let collection = opened.withLock({ $0 }) { return (collection.observers.add(call), nil) }
        let observer = PendingObserver(call)
        let place = engine.place(in: container)
        // Noted first, so that it is not missed by a store that opens the collection just after this one could not.
        if let place { PendingObservers.add(observer, at: place) }
        let subscription = ObservableCodableStoreSubscription {
            if let place { PendingObservers.remove(observer, at: place) }
            observer.end()
        }
        do {
            observer.begin(with: try collection().observers)
            if let place { PendingObservers.remove(observer, at: place) }
            return (subscription, nil)
        } catch {
            return (subscription, error)
        }
    }
}

// @unchecked because subclasses are possible. The properties here never change or are guarded by a lock.
extension CodableStore: @unchecked Sendable where Object: Sendable {}
