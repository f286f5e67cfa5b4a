// The section "CodableStoreController". It is compiled on platforms with UIKit, and against stub declarations
// elsewhere.
#if canImport(UIKit)
import CodableStoreKit
import UIKit

class UserListViewController: CodableStoreViewController<User> {

    /// Map Users to firstName list
    let toFirstNames: ([User]) -> String = {
        $0.map { $0.firstName }.joined(separator: "\n")
    }

    /// The Label to display all Users firstname
    lazy var label: UILabel = {
        let label = UILabel()
        label.text = self.toFirstNames(self.codableStoreables)
        label.numberOfLines = 0
        label.lineBreakMode = .byWordWrapping
        label.textAlignment = .center
        label.backgroundColor = .white
        return label
    }()

    /// Replace View with Label
    override func loadView() {
        self.view = self.label
    }

    /// Did updated Users
    func codableStoreablesDidUpdate(
        event: CodableStore<User>.ObserveEvent,
        codableStoreables: [User]
    ) {
        self.label.text = self.toFirstNames(codableStoreables)
    }

}

/// A controller with a table.
class UserTableViewController: CodableStoreTableViewController<User> {
    override func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int {
        codableStoreables.count
    }

    func codableStoreablesWillUpdate(event: CodableStore<User>.ObserveEvent, codableStoreables: [User]) {}

    func codableStoreablesDidUpdate(event: CodableStore<User>.ObserveEvent, codableStoreables: [User]) {
        tableView.reloadData()
    }
}

/// A controller with a collection view.
class UserCollectionViewController: CodableStoreCollectionViewController<User> {
    override func collectionView(_ collectionView: UICollectionView, numberOfItemsInSection section: Int) -> Int {
        codableStoreable(at: section) == nil ? 0 : codableStoreables.count
    }

    func codableStoreablesDidUpdate(event: CodableStore<User>.ObserveEvent, codableStoreables: [User]) {
        collectionView.reloadData()
    }
}

/// Creates each kind of controller.
@MainActor
func makeControllers() -> [UIViewController] {
    let store = CodableStore<User>(engine: .inMemory)
    return [
        UserListViewController(), UserListViewController(codableStore: store), UserTableViewController(style: .plain),
        UserTableViewController(codableStore: store),
        UserCollectionViewController(codableStore: store, collectionViewLayout: UICollectionViewFlowLayout()),
    ]
}
#endif
