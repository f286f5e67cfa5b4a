#if Postgres
import Bodega
import BodegaPostgres
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// Transactions over stores on PostgreSQL, and what their observers see.
@MainActor
@Suite
struct PostgresStoresTests {

    @Test(
        "Observers of stores and windows of two clients see all of a transaction or nothing",
        arguments: ["", "%20-cdefault_transaction_isolation%3Dserializable"], [false, true])
    func sums(isolation: String, isAttacked: Bool) async throws {
        let seed = Seed.current
        print("EMPORIUM_SEED=\(seed)")
        let schema = try await Schemas.shared.schema()
        let name = "units_\(schema.name)"
        let first = try await Collections(schema, parameters: isolation + "&application_name=\(name)")
        let second = try await Collections(schema, parameters: isolation + "&application_name=\(name)")
        let clients = [first, second]
        var (stores, windows, watches): ([[Store<UnitAccount>]], [LiveQuery<UnitAccount>], [UnitWatch]) = ([], [], [])
        try await UnitAccount.fill([first.left, first.right].map { ObjectStorage(storage: $0) })
        for client in clients {
            let engines = [client.left, client.right]
            let own = [
                try await Store<UnitAccount>(storage: engines[0]), try await Store<UnitAccount>(storage: engines[1]),
            ]
            let live = engines.map { LiveQuery(Query<UnitAccount>(), in: ObjectStorage<UnitAccount>(storage: $0)) }
            for window in live { try await window.itemsHaveLoaded() }
            watches.append(UnitWatch(own, live))
            stores.append(own)
            windows += live
        }
        let moves = zip(stores, 0...).map { own, number in
            Task {
                var random = SeededGenerator(seed: seed &+ UInt64(number))
                for _ in 0..<TestSizes.transfers {
                    let from = Int.random(in: 0...1, using: &random)
                    let units = Int.random(in: 1...9, using: &random)
                    do {
                        try await own[from].transaction(with: own[1 - from]) { from, to in
                            // The other mover removes an empty account at times.
                            if from["0"] == nil || to["0"] == nil { return }
                            try from.update(id: "0") { $0.units -= units }
                            try to.update(id: "0") { $0.units += units }
                        }
                    } catch let error as StorageError where isAttacked && error.code == .unreachable {
                        // All or nothing of it was done.
                        continue
                    }
                }
            }
        }
        let storages = [second.left, second.right].map { ObjectStorage<UnitAccount>(storage: $0) }
        let moving = Task.detached {
            try await UnitAccount.move(
                storages, in: second.left, count: TestSizes.transfers, seed: seed &+ 100)
        }
        let isOver = Locked(false)
        let attack = Task.detached {
            try await schema.endProcesses(of: name, upTo: isAttacked ? 40 : 0) { isOver.withLock { $0 } }
        }
        for move in moves { try await move.value }
        do {
            try await moving.value
        } catch let error as StorageError where isAttacked && error.code == .unreachable {
            // It has moved fewer.
        }
        isOver.withLock { $0 = true }
        let ended = try await attack.value
        #expect(isAttacked == (ended > 0))
        for own in stores {
            try await own[0].transaction(with: own[1]) { left, right in
                #expect(UnitAccount.sum(left.items + right.items) == UnitAccount.total)
            }
            for (store, engine) in zip(own, [first.left, first.right]) {
                let stored = try await ObjectStorage<UnitAccount>(storage: engine).fetchAllObjects().objects
                #expect(store.items == stored)
            }
        }
        for watch in watches {
            #expect(watch.wrong.prefix(5) == [], "\(watch.wrong.count) of \(watch.observations)")
            #expect(watch.observations > TestSizes.transfers)
        }
    }
}
#endif
