import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// Another process changes a store and prints each acknowledged write. It is stopped and killed at random moments.
@MainActor
@Suite struct StoreKillTests {

    /// An account, as the other process writes it.
    private struct Account: Codable, Identifiable {
        var id: String
        var balance: Int
        var text: String
    }

    @Test(
        "After a kill, all acknowledged items are stored, and transactions and chains are complete",
        arguments: [("sqlite", "full"), ("sqlite", "relaxed"), ("disk", "full")]
    )
    func kill(kind: String, durability: String) async throws {
        print("kill test of a store on \(kind), \(durability): EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        let folder = TemporaryFolder()
        for round in 0..<TestSizes.storeKills {
            let child = try Child("store", kind, folder.path, durability, "new\(round)")
            var acknowledged: [String] = []
            for _ in 0..<Int.random(in: 1...80, using: &random) {
                acknowledged.append(try #require(await child.nextLine()))
            }
            // Stops some processes before they continue or are killed, so that they may hold locks when they die.
            if Bool.random(using: &random) {
                ProcessSignal.stop.send(to: child.processIdentifier)
                if Bool.random(using: &random) {
                    ProcessSignal.resume.send(to: child.processIdentifier)
                    acknowledged.append(try #require(await child.nextLine()))
                }
            }
            child.kill()
            // Lines printed before its death count, too.
            acknowledged += await child.lines()
            let store = try await Store<Account>(storage: openEngine(kind, at: folder))
            try verify(store, acknowledged)
            try await store.remove(store.items.filter { $0.id.hasPrefix("new") })
        }
    }

    private func verify(_ store: Store<Account>, _ acknowledged: [String]) throws {
        #expect(store.undecodable.isEmpty)
        for writer in 0..<4 {
            let balances = ["left", "right"].compactMap { store["\($0)-\(writer)"]?.balance }
            // One call has inserted both.
            #expect(balances.count != 1)
            #expect(balances.reduce(0, +) == 0, "half a transaction of \(writer): \(balances)")
        }
        let replaced = Set(acknowledged.filter { $0.hasPrefix("replaced ") }.map { $0.dropFirst(9) })
        for line in acknowledged where line.hasPrefix("inserted ") {
            let id = line.dropFirst(9)
            let isThere = store.contains(id: String(id))
            let isReplaced = store.contains(id: "\(id)-again")
            #expect(isThere != isReplaced, "half a chain, or lost: \(id)")
            if replaced.contains(id) { #expect(isReplaced, "lost: \(id)") }
        }
        for account in store.items where account.id.hasPrefix("new") {
            let id = account.id.replacingOccurrences(of: "-again", with: "")
            #expect(account.text == String(repeating: id, count: 50))
        }
    }
}
