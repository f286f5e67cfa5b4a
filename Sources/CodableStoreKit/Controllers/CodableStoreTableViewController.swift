#if canImport(UIKit)
public import Foundation
public import UIKit

/// A table view controller that shows the objects of a collection; to be subclassed.
///
/// The subclass conforms to ``CodableStoreControllerable`` by way of this alias. So it writes the hooks that it wants,
/// as ``CodableStoreControllerable/codableStoreablesDidUpdate(event:codableStoreables:)``, without `override`. It observes
/// the collection from its initializer to its end; a hook can be called before the view is loaded.
///
/// It is a composition: what only has this type can't be created. ``CodableStoreTableViewControllerBase`` has the
/// initializers.
public typealias CodableStoreTableViewController<Object: BaseCodableStoreable> = CodableStoreTableViewControllerBase<
    Object
>
    & CodableStoreControllerable

/// The superclass of each ``CodableStoreTableViewController``.
@MainActor
@preconcurrency
open class CodableStoreTableViewControllerBase<Object: BaseCodableStoreable>: UITableViewController {

    /// The store of the objects.
    public let codableStore: CodableStore<Object>

    /// What ends the observation when the controller is released.
    public let subscriptionBag = ObserverableCodableStoreSubscriptionBag()

    /// Creates a controller.
    ///
    /// - Parameters:
    ///   - codableStore: The store of the objects.
    ///   - style: The style of the table.
    public init(codableStore: CodableStore<Object>, style: UITableView.Style = .plain) {
        self.codableStore = codableStore
        super.init(style: style)
        observe()
    }

    /// Creates a controller of the default store.
    override public init(style: UITableView.Style) {
        codableStore = CodableStore()
        super.init(style: style)
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
