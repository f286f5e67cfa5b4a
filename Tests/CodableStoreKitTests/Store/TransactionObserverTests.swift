import Bodega
import CodableStoreKit
import Dispatch
import Foundation
import TestSupport
import Testing

/// Observers of the collections that a transaction changes.
@Suite struct TransactionObserverTests {

    private let folder = TemporaryFolder()

    private struct Refusal: Error {}

    @Test(
        "Observers of all types are called after the commit, in the order of the changes",
        arguments: LocationKind.allCases)
    func order(_ kind: LocationKind) throws {
        let stores = UnitStores(try kind.location(in: folder))
        let events = Locked<[String]>([])
        let isInside = Locked(false)
        func observe<Object: Units>(_ store: CodableStore<Object>) {
            store.observeCollection(on: .immediate) { event in
                #expect(!isInside.withLock { $0 })
                // Everything is stored, and the observer is in no transaction.
                #expect(stores.chests.exists(identifier: "c") && !stores.purses.exists(identifier: "b"))
                let kind = if case .saved = event { "saved" } else { "deleted" }
                events.withLock { $0.append("\(kind) \(Object.self) \(event.object.id)") }
                #expect(throws: Refusal.self) {
                    try stores.receipts.transaction {
                        try stores.receipts.save(Receipt(id: "never", units: 1))
                        throw Refusal()
                    }
                }
            }
        }
        observe(stores.purses)
        observe(stores.chests)
        try stores.purses.transaction {
            isInside.withLock { $0 = true }
            try stores.purses.save(Purse(id: "a", units: 1))
            try stores.chests.save(Chest(id: "a", units: 1))
            try stores.purses.save(Purse(id: "b", units: 1))
            #expect(throws: Refusal.self) {
                try stores.purses.transaction {
                    try stores.chests.save(Chest(id: "undone", units: 1))
                    throw Refusal()
                }
            }
            try stores.chests.save(Chest(id: "b", units: 1))
            try stores.chests.save(Chest(id: "c", units: 1))
            try stores.purses.delete(identifier: "b")
            isInside.withLock { $0 = false }
        }
        let all = events.withLock { $0 }
        #expect(
            all.filter { $0.contains("Purse") } == ["saved Purse a", "saved Purse b", "deleted Purse b"])
        #expect(all.filter { $0.contains("Chest") } == ["saved Chest a", "saved Chest b", "saved Chest c"])
        #expect(throws: Refusal.self) {
            try stores.purses.transaction {
                try stores.purses.save(Purse(id: "z", units: 1))
                throw Refusal()
            }
        }
        #expect(events.withLock { $0.count } == all.count)
    }

    @Test("An observer of another thread's change is not called in a transaction", arguments: LocationKind.allCases)
    func foreignDeliveries(_ kind: LocationKind) throws {
        let stores = UnitStores(try kind.location(in: folder))
        let (isBlocked, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let events = Locked<[String]>([])
        let isInside = Locked(false)
        stores.purses.observeCollection(on: .immediate) { event in
            #expect(!isInside.withLock { $0 })
            events.withLock { $0.append(event.object.id) }
            if event.object.id == "slow" {
                isBlocked.signal()
                #expect(mayEnd.wait(timeout: .now() + 60) == .success)
            }
        }
        let other = DispatchGroup()
        DispatchQueue.global().async(group: other) { _ = try? stores.purses.save(Purse(id: "slow", units: 1)) }
        #expect(isBlocked.wait(timeout: .now() + 60) == .success)
        try stores.purses.save(Purse(id: "waiting", units: 1))
        try stores.purses.transaction {
            isInside.withLock { $0 = true }
            try stores.purses.save(Purse(id: "inside", units: 1))
            isInside.withLock { $0 = false }
        }
        mayEnd.signal()
        #expect(other.wait(timeout: .now() + 60) == .success)
        #expect(events.withLock { $0 } == ["slow", "waiting", "inside"])
    }

    @Test(
        "Observers can be added in a transaction while other threads add the first ones", .timeLimit(.minutes(2)),
        arguments: LocationKind.allCases)
    func firstObservers(_ kind: LocationKind) async throws {
        let location = try kind.location(in: folder)
        let stores = UnitStores(location)
        let saved = Locked(0)
        let threads = DispatchGroup()
        DispatchQueue.global().async(group: threads) {
            #expect(throws: Never.self) {
                for number in 1...100 {
                    try stores.purses.transaction {
                        try stores.purses.save(Purse(id: "a", units: number))
                        let subscription = stores.purses.observeCollection(on: .immediate) { _ in
                            saved.withLock { $0 += 1 }
                        }
                        try stores.purses.save(Purse(id: "b", units: number))
                        subscription.unsubscribe()
                    }
                }
            }
        }
        DispatchQueue.global().async(group: threads) {
            for _ in 1...100 {
                UnitStores(location).purses.observeCollection(on: .immediate) { _ in }.unsubscribe()
            }
        }
        await withCheckedContinuation { continuation in threads.notify(queue: .global()) { continuation.resume() } }
        // They have ended before the commit.
        #expect(saved.withLock { $0 } == 0)
        #expect(try stores.purses.get(identifier: "b").units == 100)
    }

    @Test(
        "An observer that is added in a transaction receives all that others change after it", .timeLimit(.minutes(2)),
        arguments: [false, true])
    func observedInside(isUndone: Bool) async throws {
        func open() throws -> CodableStore<Purse> {
            CodableStore(engine: .at(.sqlite(try SQLiteStorageEngine(opening: .init(url: folder.file("data"))))))
        }
        let (store, other) = (try open(), try open())
        try store.save(Purse(id: "0", units: 0))
        let events = Locked<[String]>([])
        for round in 1...20 {
            let subscriptions = Locked<[ObservableCodableStoreSubscription]>([])
            do {
                try store.transaction {
                    for id in ["a", "b"] { try store.save(Purse(id: id, units: round)) }
                    let subscription = store.observeCollection(on: .immediate) { event in
                        let kind = if case .saved = event { "saved" } else { "deleted" }
                        events.withLock { $0.append("\(kind) \(event.object.id)") }
                    }
                    subscriptions.withLock { $0.append(subscription) }
                    if isUndone { throw Refusal() }
                }
            } catch is Refusal {}
            events.withLock { $0 = [] }
            try other.save(Purse(id: "a", units: -round))
            try other.save(Purse(id: "0", units: -round))
            try other.save(Purse(id: "c", units: -round))
            while events.withLock({ $0.last }) != "saved c" { await Task.yield() }
            #expect(events.withLock { $0 } == ["saved a", "saved 0", "saved c"])
            for subscription in subscriptions.withLock({ $0 }) { subscription.unsubscribe() }
        }
    }

    @Test("Observers follow the transactions of another process")
    func otherProcess() async throws {
        let stores = UnitStores(.sqlite(in: folder.directory))
        try stores.purses.save(Purse(id: "0", units: 100))
        var receipts = stores.receipts.events().makeAsyncIterator()
        let chests = Locked<[String: Int]>([:])
        stores.chests.observeCollection(on: .immediate) { event in
            chests.withLock { chests in
                if case .saved(let chest, _, _) = event {
                    chests[chest.id] = chest.units
                } else {
                    chests[event.object.id] = nil
                }
            }
        }
        let child = try Child("move-units", folder.path, "c", "\(Seed.current)", "30")
        let lines = await child.lines()
        var seen: [String] = []
        while seen.count < 30 { if case .saved(let receipt, _, _)? = await receipts.next() { seen.append(receipt.id) } }
        #expect(seen == Array(lines.dropLast()))
        // The observers of chests are called by another follower.
        let stored = Dictionary(uniqueKeysWithValues: try stores.chests.getCollection().map { ($0.id, $0.units) })
        while chests.withLock({ $0 }) != stored { await Task.yield() }
    }
}
