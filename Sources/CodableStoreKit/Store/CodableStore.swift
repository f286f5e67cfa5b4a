import Bodega

/// A store of the objects of one type. It saves, deletes, finds, observes and copies them synchronously, on the
/// caller's thread.
///
/// ```swift
/// let users = CodableStore<User>()
/// try users.save(User(id: "42", firstName: "Mr.", lastName: "Robot"))
/// let user = try users.get(identifier: "42")
/// ```
///
/// - When ``save(_:)-(Object)`` returns, the object survives a crash and a power failure.
/// - Stores are cheap to create. Any number, in any threads and processes, can use one collection concurrently.
/// - Collections are in the order in which the objects were first saved.
/// - An object that cannot be decoded stays stored and does not hide others. See ``fetchCollection()``.
///
/// Operations block the thread during disk access. In an actor, prefer a Boutique store on the same engine. See
/// ``CodableStore/Engine/sqlite(_:)``.
open class CodableStore<Object: BaseCodableStoreable> {

    /// The container within the engine.
    public let container: CodableStoreContainer

    /// The engine that stores the objects.
    public let engine: Engine

    /// Creates a store. The first operation opens the collection, and throws an error if that fails. Reading creates
    /// nothing; the first save or observation creates what is missing.
    ///
    /// - Parameters:
    ///   - container: The container within the engine.
    ///   - engine: The engine that stores the objects.
    public init(container: CodableStoreContainer = .default, engine: Engine = .fileSystem) {
        self.container = container
        self.engine = engine
    }

    /// A read-only view of the store.
    open var readable: AnyReadableCodableStore<Object> { AnyReadableCodableStore(self) }

    /// A write-only view of the store.
    open var writeable: AnyWriteableCodableStore<Object> { AnyWriteableCodableStore(self) }

    /// An observe-only view of the store.
    open var observable: AnyObserverableCodableStore<Object> { AnyObserverableCodableStore(self) }

    /// A copy-only view of the store.
    open var copyable: AnyCopyableCodableStore<Object> { AnyCopyableCodableStore(self) }

    typealias OpenCollection = any ObjectCollection<Object>

    private let opened = Locked<OpenCollection?>(nil)

    /// The storage of the test that has created the store; the first operation may come from another thread.
    private let temporaryStorage = TemporaryStorage.current

    /// Returns the store's collection, and opens it on first use.
    func collection() throws -> OpenCollection {
        let (collection, isNew) = try opened.withLock { opened in
            if let collection = opened { return (collection, false) }
            let collection =
                try temporaryStorage?.use { try engine.open(in: container) } ?? engine.open(in: container)
            opened = collection
            return (collection, true)
        }
        // Outside of the lock, because this can wait for a transaction, in which the store can be used.
        if isNew { engine.beginPendingObservers(of: collection, in: container) }
        return collection
    }

    /// Adds an observer of future changes. If the collection cannot be opened, the observation begins when any store
    /// opens it.
    ///
    /// - Parameters:
    ///   - identity: The identity of the object that is observed, `nil` for all objects.
    ///   - call: The closure to call with each change.
    /// - Returns: The subscription, and the error if the collection could not be opened.
    func addObserver(
        of identity: Identity<Object.ID>?, _ call: @escaping Observers<Object>.Call
    ) -> (subscription: ObservableCodableStoreSubscription, failure: (any Error)?) {
        if let collection = opened.withLock({ $0 }) {
            let failure = failureToPrepare(collection)
            return (collection.observers.add(of: identity, call), failure)
        }
        let observer = PendingObserver(of: identity, call)
        let place = temporaryStorage?.use { engine.place(in: container) } ?? engine.place(in: container)
        // Added first, so that a store that opens the collection right after this attempt fails does not miss it.
        if let place { PendingObservers.add(observer, at: place) }
        let subscription = ObservableCodableStoreSubscription {
            if let place { PendingObservers.remove(observer, at: place) }
            observer.end()
        }
        do {
            let collection = try collection()
            let failure = failureToPrepare(collection)
            observer.begin(with: collection.observers)
            if let place { PendingObservers.remove(observer, at: place) }
            return (subscription, failure)
        } catch {
            return (subscription, error)
        }
    }

    /// Opens or creates the file that is needed to observe changes of others, but no collection.
    ///
    /// - Returns: The error if that failed. It is tried again later, and changes of this process are observed anyway.
    private func failureToPrepare(_ collection: OpenCollection) -> (any Error)? {
        do {
            try collection.prepareToObserve()
            return nil
        } catch {
            return error
        }
    }
}

// @unchecked because the class is open. Its own properties are immutable or guarded by a lock.
extension CodableStore: @unchecked Sendable where Object: Sendable {}
