import Logging

/// A controller that shows the objects of a collection, with hooks that are called before and after a change is shown.
///
/// ```swift
/// final class UserList: CodableStoreControllerable {
///     let codableStore = CodableStore<User>()
///     let subscriptionBag = ObserverableCodableStoreSubscriptionBag()
///
///     init() {
///         observeCodableStoreables()
///     }
///
///     func codableStoreablesDidUpdate(event: CodableStore<User>.ObserveEvent, codableStoreables: [User]) {
///         print(codableStoreables.map(\.firstName))
///     }
/// }
/// ```
///
/// A controller is isolated to the main actor. A change made on the main thread is shown before the operation returns.
/// A change made on another thread is shown when the main actor is free. Changes are always shown in the order in which
/// they are made. In a program whose main thread neither runs a run loop nor awaits, the changes of other threads are
/// shown together with the next change of the main thread.
///
/// The observation ends when the ``subscriptionBag`` is released, usually with the controller.
@preconcurrency
@MainActor
public protocol CodableStoreControllerable<Object>: AnyObject {

    /// The type of the objects.
    associatedtype Object: BaseCodableStoreable

    /// The store of the objects. It is read once, when the observation begins.
    var codableStore: CodableStore<Object> { get }

    /// All objects, in the order in which they were first saved.
    ///
    /// The default implementation reads the objects on first use and keeps them up to date. A change does not read the
    /// store and does not access other objects. A deletion moves the later objects in memory. The array is copied by
    /// the next change if the controller retains it, and when it is used in
    /// ``codableStoreablesWillUpdate(event:codableStoreables:)``. If the objects cannot be read, the array is empty,
    /// ``codableStoreablesDidFail(_:)`` is called, and the next use reads again.
    var codableStoreables: [Object] { get }

    /// The bag whose release ends the observation. Return the same bag each time, shared with no other controller.
    var subscriptionBag: ObserverableCodableStoreSubscriptionBag { get }

    /// Returns the object at an index of ``codableStoreables``, or `nil` if the index is out of bounds.
    ///
    /// - Parameter index: The index.
    func codableStoreable(at index: Int) -> Object?

    /// Called before a change is shown. ``codableStoreables`` does not include it yet. The default does nothing.
    ///
    /// - Parameters:
    ///   - event: The change, which is already stored.
    ///   - codableStoreables: The objects after the change.
    func codableStoreablesWillUpdate(event: CodableStore<Object>.ObserveEvent, codableStoreables: [Object])

    /// Called after a change, which ``codableStoreables`` now includes. The default implementation does nothing.
    ///
    /// - Parameters:
    ///   - event: The change.
    ///   - codableStoreables: The objects after the change.
    func codableStoreablesDidUpdate(event: CodableStore<Object>.ObserveEvent, codableStoreables: [Object])

    /// Called when the objects could not be read. The default implementation logs the error.
    ///
    /// - Parameter error: A ``/Bodega/StorageError``, or the error of a custom engine.
    func codableStoreablesDidFail(_ error: any Error)
}

extension CodableStoreControllerable {

    /// Begins to observe the collection. Call this method when the controller is initialized.
    ///
    /// The UIKit controllers of this module do so. The first use of the default ``codableStoreables`` also begins the
    /// observation.
    public func observeCodableStoreables() {
        _ = controllerObjects
    }

    public var codableStoreables: [Object] { controllerObjects.all }

    public func codableStoreable(at index: Int) -> Object? {
        let objects = codableStoreables
        return objects.indices.contains(index) ? objects[index] : nil
    }

    public func codableStoreablesWillUpdate(event: CodableStore<Object>.ObserveEvent, codableStoreables: [Object]) {}

    public func codableStoreablesDidUpdate(event: CodableStore<Object>.ObserveEvent, codableStoreables: [Object]) {}

    public func codableStoreablesDidFail(_ error: any Error) {
        codableStoreLogger.error("A controller's objects could not be read.", metadata: ["error": "\(error)"])
    }

    /// The up-to-date objects, created on first use and retained by the bag.
    private var controllerObjects: ControllerObjects<Object> {
        if let known = subscriptionBag.keepsake as? ControllerObjects<Object> { return known }
        let new = ControllerObjects(of: codableStore, for: self)
        subscriptionBag.keepsake = new
        new.follow(until: subscriptionBag)
        return new
    }
}
