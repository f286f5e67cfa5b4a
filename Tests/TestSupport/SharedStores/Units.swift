package import CodableStoreKit

/// A number of units that transactions move between collections. A receipt of each move is in a third one.
package protocol Units: CodableStoreable, Sendable {
    var id: String { get }
    var units: Int { get set }
    init(id: String, units: Int)
}

package struct Purse: Units, Equatable {
    package let id: String
    package var units: Int

    package static var codableStoreIdentifier: KeyPath<Purse, String> { \.id }
    package static var codableStoreCollectionName: String { "Purses" }

    package init(id: String, units: Int) { (self.id, self.units) = (id, units) }
}

package struct Chest: Units, Equatable {
    package let id: String
    package var units: Int

    package static var codableStoreIdentifier: KeyPath<Chest, String> { \.id }
    package static var codableStoreCollectionName: String { "Chests" }

    package init(id: String, units: Int) { (self.id, self.units) = (id, units) }
}

/// A receipt of what a move has added to the chests.
package struct Receipt: Units, Equatable {
    package let id: String
    package var units: Int

    package static var codableStoreIdentifier: KeyPath<Receipt, String> { \.id }
    package static var codableStoreCollectionName: String { "Receipts" }

    package init(id: String, units: Int) { (self.id, self.units) = (id, units) }
}

/// Stores at one location, between which units are moved.
package struct UnitStores: Sendable {
    package let purses: CodableStore<Purse>
    package let chests: CodableStore<Chest>
    package let receipts: CodableStore<Receipt>

    package init(_ location: CodableStoreLocation, container: CodableStoreContainer = "Units") {
        purses = CodableStore(container: container, engine: .at(location))
        chests = CodableStore(container: container, engine: .at(location))
        receipts = CodableStore(container: container, engine: .at(location))
    }

    /// The sum of all units. It is right only in a transaction.
    package func sum() throws -> Int {
        try purses.getCollection().map(\.units).reduce(0, +) + chests.getCollection().map(\.units).reduce(0, +)
    }

    /// Moves units from a purse to a chest, or back if the number is negative, in a transaction that creates, changes
    /// and deletes objects.
    ///
    /// - Returns: The sum of all units before.
    package func move(_ units: Int, purse: String, chest: String, receipt: String) throws -> Int {
        try purses.transaction {
            let sum = try sum()
            try add(-units, to: purse, of: purses)
            try add(units, to: chest, of: chests)
            try receipts.save(Receipt(id: receipt, units: units))
            return sum
        }
    }

    private func add<Object: Units>(_ units: Int, to id: String, of store: CodableStore<Object>) throws
    where Object.ID == String {
        let old = try store.first { $0.id == id }?.units ?? 0
        if old + units != 0 {
            try store.save(Object(id: id, units: old + units))
        } else if old != 0 {
            try store.delete(identifier: id)
        }
    }
}
