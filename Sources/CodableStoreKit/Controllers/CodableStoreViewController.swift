#if canImport(UIKit)
public import Foundation
public import UIKit

/// A view controller that shows the objects of a collection. Subclass it.
///
/// The alias makes the subclass conform to ``CodableStoreControllerable``, so it can implement hooks like
/// ``CodableStoreControllerable/codableStoreablesDidUpdate(event:codableStoreables:)`` without `override`. A controller
/// observes the collection from its initialization to its release. Hooks can be called before the view is loaded.
///
/// A protocol composition has no initializers. ``CodableStoreViewControllerBase`` declares them.
public typealias CodableStoreViewController<Object: BaseCodableStoreable> = CodableStoreViewControllerBase<Object>
    & CodableStoreControllerable

/// The superclass of a ``CodableStoreViewController``.
@MainActor
@preconcurrency
open class CodableStoreViewControllerBase<Object: BaseCodableStoreable>: UIViewController {

    /// The store of the objects.
    public let codableStore: CodableStore<Object>

    /// The subscriptions that end when the controller is released.
    public let subscriptionBag = ObserverableCodableStoreSubscriptionBag()

    /// Creates a controller.
    ///
    /// - Parameters:
    ///   - codableStore: The store of the objects.
    ///   - nibNameOrNil: The name of the nib file with the view, or `nil`.
    ///   - nibBundleOrNil: The bundle of that file, or `nil` for the main bundle.
    public init(
        codableStore: CodableStore<Object>,
        nibName nibNameOrNil: String? = nil,
        bundle nibBundleOrNil: Bundle? = nil
    ) {
        self.codableStore = codableStore
        super.init(nibName: nibNameOrNil, bundle: nibBundleOrNil)
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

extension UIViewController {
    /// Begins to observe the collection if the subclass conforms to ``CodableStoreControllerable``.
    func observeObjects() {
        (self as? any CodableStoreControllerable)?.observeCodableStoreables()
    }
}
#endif
