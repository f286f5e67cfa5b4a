package import Bodega
import BodegaTesting
package import Boutique
import Foundation
import Observation

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// An account of units, which move between collections. Their sum never changes.
package struct UnitAccount: Codable, Sendable, Equatable, Queryable, Identifiable {
    package var id: String
    package var units: Int

    package static let indexes = [Index("units", \UnitAccount.units)]

    package init(id: String, units: Int) { (self.id, self.units) = (id, units) }

    /// The sum of all accounts.
    package static let total = 10_000
    /// The keys of the accounts in each collection.
    package static let keys = (0..<5).map { CacheKey("\($0)") }

    package static func sum(_ accounts: [UnitAccount]) -> Int { accounts.reduce(0) { $0 + $1.units } }

    /// Stores the accounts, with all units in the first collection.
    package static func fill(_ storages: [ObjectStorage<UnitAccount>]) async throws {
        for (number, storage) in storages.enumerated() {
            for key in keys {
                let units = number == 0 ? total / keys.count : 0
                try await storage.store(UnitAccount(id: key.rawValue, units: units), forKey: key)
            }
        }
    }

    /// Moves units between collections at random, and removes and adds accounts.
    package static func move(
        _ storages: [ObjectStorage<UnitAccount>], in database: any StorageEngine, count: Int, seed: UInt64
    ) async throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<count {
            let (from, to) = (storages.randomElement(using: &random), storages.randomElement(using: &random))
            let (key, other) = (keys.randomElement(using: &random), keys.randomElement(using: &random))
            guard let from, let to, let key, let other else { return }
            let units = Int.random(in: 1...9, using: &random)
            let removesEmpty = Int.random(in: 0..<4, using: &random) == 0
            try await database.transaction { transaction in
                guard var account = try await transaction.object(forKey: key, in: from) else { return }
                account.units -= units
                try transaction.store(account, forKey: key, in: from)
                var target =
                    try await transaction.object(forKey: other, in: to) ?? UnitAccount(id: other.rawValue, units: 0)
                target.units += units
                if removesEmpty, target.units == 0 {
                    try transaction.removeObject(forKey: other, in: to)
                } else {
                    try transaction.store(target, forKey: other, in: to)
                }
            }
        }
    }
}

/// Compares the sum of all accounts, whenever an observer of a store or a window is called, with the total.
@MainActor
package final class UnitWatch {
    /// The number of observations.
    package private(set) var observations = 0
    /// The sums that were not the total.
    package private(set) var wrong: [String] = []
    /// Receives each of them.
    package var onWrong: (String) -> Void = { _ in }

    private let stores: [Store<UnitAccount>]
    private let windows: [LiveQuery<UnitAccount>]
    private var subscriptions: [AnyCancellable] = []

    package init(_ stores: [Store<UnitAccount>], _ windows: [LiveQuery<UnitAccount>]) {
        (self.stores, self.windows) = (stores, windows)
        for store in stores {
            subscriptions.append(store.$items.sink { [weak self] _ in self?.check() })
            subscriptions.append(store.objectWillChange.sink { [weak self] _ in self?.check() })
            track { _ = store.items }
        }
        for window in windows {
            subscriptions.append(window.$items.sink { [weak self] _ in self?.check() })
            subscriptions.append(window.objectWillChange.sink { [weak self] _ in self?.check() })
            track { _ = window.items }
        }
    }

    /// Compares the sums now.
    package func check() {
        observations += 1
        check("stores", UnitAccount.sum(stores.flatMap(\.items)))
        if !windows.isEmpty, windows.allSatisfy(\.state.isLoaded) {
            check("windows", UnitAccount.sum(windows.flatMap(\.items)))
        }
    }

    private func check(_ name: String, _ sum: Int) {
        if sum == UnitAccount.total { return }
        wrong.append("\(name): \(sum)")
        onWrong("\(name): \(sum)")
    }

    private func track(_ read: @escaping @MainActor () -> Void) {
        withObservationTracking(read) { [weak self] in
            MainActor.assumeIsolated { self?.check() }
            Task { @MainActor in
                self?.check()
                self?.track(read)
            }
        }
    }
}
