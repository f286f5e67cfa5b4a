import Logging

/// What shows the objects of a collection, and is told before and after they change.
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
/// It lives on the main actor. A change that is made on the main thread is shown when the operation returns; one that is
/// made on another thread follows when the main thread gets to it. The order is always that of the changes. In a program
/// whose main thread neither runs a loop nor awaits anything, those of other threads are shown with the next of its own.
///
/// The observation ends with the ``subscriptionBag``, so with the controller.
@preconcurrency
@MainActor
public protocol CodableStoreControllerable<Object>: AnyObject {

    /// The type of the objects.
    associatedtype Object: BaseCodableStoreable

    /// The store of the objects. It is asked for once, when the observation begins.
    var codableStore: CodableStore<Object> { get }

    /// All objects, in the order in which they were first saved.
    ///
    /// By default they are read with the first use and kept up to date from then on. A change reads nothing and looks at no
    /// other object; a deletion moves the objects behind it in memory. The array is copied by the next change if the
    /// controller keeps it, and when it is used in ``codableStoreablesWillUpdate(event:codableStoreables:)``. If the objects
    /// could not be read there are none, ``codableStoreablesDidFail(_:)`` is called, and the next use reads again.
    var codableStoreables: [Object] { get }

    /// What ends the observation when it is released. It must always be the same, and belong to this controller alone.
    var subscriptionBag: ObserverableCodableStoreSubscriptionBag { get }

    /// The object at a place among ``codableStoreables``.
    ///
    /// - Parameter index: The place.
    /// - Returns: The object, or `nil` if there is no such place.
    func codableStoreable(at index: Int) -> Object?

    /// A change is about to be shown; ``codableStoreables`` are still without it. By default nothing is done.
    ///
    /// - Parameters:
    ///   - event: The change, which is already stored.
    ///   - codableStoreables: The objects after it.
    func codableStoreablesWillUpdate(event: CodableStore<Object>.ObserveEvent, codableStoreables: [Object])

    /// A change is shown. By default nothing is done.
    ///
    /// - Parameters:
    ///   - event: The change.
    ///   - codableStoreables: The objects after it.
    func codableStoreablesDidUpdate(event: CodableStore<Object>.ObserveEvent, codableStoreables: [Object])

    /// The objects could not be read. By default this is logged.
    ///
    /// - Parameter error: A ``Bodega/StorageError``, or what a custom engine has thrown.
    func codableStoreablesDidFail(_ error: any Error)
}

extension CodableStoreControllerable {

    /// Begins to observe the collection; to be called once the controller is initialized.
    ///
    /// The controllers of UIKit do so by themselves. The first use of the default ``codableStoreables`` begins it, too.
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

    /// What keeps the objects up to date, made with the first use and kept by the bag.
    private var controllerObjects: ControllerObjects<Object> {
        if let known = subscriptionBag.keepsake as? ControllerObjects<Object> { return known }
        let new = ControllerObjects(of: codableStore, for: self)
        subscriptionBag.keepsake = new
        new.follow(until: subscriptionBag)
        return new
    }
}
