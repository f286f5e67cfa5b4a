#if canImport(UIKit)
public import Foundation
public import UIKit

/// A collection view controller that shows the objects of a collection. Subclass it.
///
/// The alias makes the subclass conform to ``CodableStoreControllerable``, so it can implement hooks like
/// ``CodableStoreControllerable/codableStoreablesDidUpdate(event:codableStoreables:)`` without `override`. A controller
/// observes the collection from its initialization to its release. Hooks can be called before the view is loaded.
///
/// A protocol composition has no initializers. ``CodableStoreCollectionViewControllerBase`` declares them.
public typealias CodableStoreCollectionViewController<Object: BaseCodableStoreable> =
    CodableStoreCollectionViewControllerBase<Object>
    & CodableStoreControllerable

/// The superclass of a ``CodableStoreCollectionViewController``.
@MainActor
@preconcurrency
open class CodableStoreCollectionViewControllerBase<Object: BaseCodableStoreable>: UICollectionViewController {

    /// The store of the objects.
    public let codableStore: CodableStore<Object>

    /// The subscriptions that end when the controller is released.
    public let subscriptionBag = ObserverableCodableStoreSubscriptionBag()

    /// Creates a controller.
    ///
    /// - Parameters:
    ///   - codableStore: The store of the objects.
    ///   - layout: The layout of the collection.
    public init(codableStore: CodableStore<Object>, collectionViewLayout layout: UICollectionViewLayout) {
        self.codableStore = codableStore
        super.init(collectionViewLayout: layout)
        observeObjects()
    }

    /// Creates a controller that uses the default store.
    override public init(collectionViewLayout layout: UICollectionViewLayout) {
        codableStore = CodableStore()
        super.init(collectionViewLayout: layout)
        observeObjects()
    }

    /// Creates a controller that uses the default store.
    override public init(nibName nibNameOrNil: String?, bundle nibBundleOrNil: Bundle?) {
        codableStore = CodableStore()
        super.init(nibName: nibNameOrNil, bundle: nibBundleOrNil)
        observeObjects()
    }

    /// Creates a controller from a storyboard. It uses the default store.
    public required init?(coder: NSCoder) {
        codableStore = CodableStore()
        super.init(coder: coder)
        observeObjects()
    }

    /// Creates a controller from a storyboard.
    ///
    /// - Parameters:
    ///   - coder: The coder that the storyboard passes to its creator block.
    ///   - codableStore: The store of the objects.
    public init?(coder: NSCoder, codableStore: CodableStore<Object>) {
        self.codableStore = codableStore
        super.init(coder: coder)
        observeObjects()
    }
}
#endif
