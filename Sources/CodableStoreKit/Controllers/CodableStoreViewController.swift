#if canImport(UIKit)
public import Foundation
public import UIKit

/// A view controller that shows the objects of a collection; to be subclassed.
///
/// The subclass conforms to ``CodableStoreControllerable`` by way of this alias. So it writes the hooks that it wants,
/// as ``CodableStoreControllerable/codableStoreablesDidUpdate(event:codableStoreables:)``, without `override`. It observes
/// the collection from its initializer to its end; a hook can be called before the view is loaded.
///
/// It is a composition: what only has this type can't be created. ``CodableStoreViewControllerBase`` has the
/// initializers.
public typealias CodableStoreViewController<Object: BaseCodableStoreable> = CodableStoreViewControllerBase<Object>
    & CodableStoreControllerable

/// The superclass of each ``CodableStoreViewController``.
@MainActor
@preconcurrency
open class CodableStoreViewControllerBase<Object: BaseCodableStoreable>: UIViewController {

    /// The store of the objects.
    public let codableStore: CodableStore<Object>

    /// What ends the observation when the controller is released.
    public let subscriptionBag = ObserverableCodableStoreSubscriptionBag()

    /// Creates a controller.
    ///
    /// - Parameters:
    ///   - codableStore: The store of the objects.
    ///   - nibNameOrNil: The name of the nib file with the view, or `nil`.
    ///   - nibBundleOrNil: The bundle of that file, or `nil` for the main one.
    public init(
        codableStore: CodableStore<Object>,
        nibName nibNameOrNil: String? = nil,
        bundle nibBundleOrNil: Bundle? = nil
    ) {
        self.codableStore = codableStore
        super.init(nibName: nibNameOrNil, bundle: nibBundleOrNil)
        observe()
    }

    /// Creates a controller of the default store.
    override public init(nibName nibNameOrNil: String?, bundle nibBundleOrNil: Bundle?) {
        codableStore = CodableStore()
        super.init(nibName: nibNameOrNil, bundle: nibBundleOrNil)
        observe()
    }

    /// Creates a controller from a storyboard, of the default store.
    public required init?(coder: NSCoder) {
        codableStore = CodableStore()
        super.init(coder: coder)
        observe()
    }

    /// Creates a controller from a storyboard.
    ///
    /// - Parameters:
    ///   - coder: What the storyboard's creator block is given.
    ///   - codableStore: The store of the objects.
    public init?(coder: NSCoder, codableStore: CodableStore<Object>) {
        self.codableStore = codableStore
        super.init(coder: coder)
        observe()
    }

    private func observe() {
        (self as? any CodableStoreControllerable)?.observeCodableStoreables()
    }
}
#endif
