import BodegaTesting
import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// A change does not access other objects. A deletion moves the later objects within their array.
@MainActor
@Suite struct ControllerCostTests {

    /// An identifier that counts how often it is accessed.
    private struct Counted: Hashable, Codable, Sendable, LosslessStringConvertible {
        static let uses = Locked(0)
        let number: Int

        init(_ number: Int) { self.number = number }
        init?(_ description: String) {
            guard let number = Int(description) else { return nil }
            self.number = number
        }

        var description: String {
            Self.uses.withLock { $0 += 1 }
            return "\(number)"
        }

        static func == (left: Counted, right: Counted) -> Bool {
            uses.withLock { $0 += 1 }
            return left.number == right.number
        }

        func hash(into hasher: inout Hasher) {
            Self.uses.withLock { $0 += 1 }
            hasher.combine(number)
        }
    }

    private struct Item: CodableStoreable, Sendable {
        let id: Counted
        var text = ""

        static var codableStoreIdentifier: KeyPath<Item, Counted> { \.id }
        static var codableStoreCollectionName: String { "Items" }
    }

    /// A controller that accesses all objects in its hooks, like one that displays them.
    private final class Controller: CodableStoreControllerable {
        let codableStore: CodableStore<Item>
        let subscriptionBag = ObserverableCodableStoreSubscriptionBag()
        /// The address of the objects after each change. A copy would have another address.
        var addresses: [Int] = []
        var counts: [Int] = []

        init(_ store: CodableStore<Item>) { codableStore = store }

        func codableStoreablesDidUpdate(event: CodableStore<Item>.ObserveEvent, codableStoreables: [Item]) {
            addresses.append(codableStoreables.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) })
            counts.append(codableStoreables.count)
        }
    }

    private func items(_ range: Range<Int>) -> [Item] { range.map { Item(id: Counted($0)) } }

    private func controller(of count: Int) -> Controller {
        let store = CodableStore<Item>(engine: .at(.memory()))
        store.save(items(0..<count))
        let controller = Controller(store)
        #expect(controller.codableStoreables.count == count)
        return controller
    }

    @Test("A change does not access the identifiers of other objects")
    func identifiers() throws {
        func uses(_ count: Int) throws -> [Int] {
            let controller = controller(of: count)
            let store = controller.codableStore
            let changes: [() throws -> Void] = [
                { try store.delete(identifier: Counted(0)) },
                { try store.delete(identifier: Counted(count / 2)) },
                { try store.save(Item(id: Counted(count - 1), text: "new")) },
                { try store.save(Item(id: Counted(count))) },
            ]
            return try changes.map { change in
                Counted.uses.withLock { $0 = 0 }
                try change()
                return Counted.uses.withLock { $0 }
            }
        }
        let (few, many) = (try uses(10), try uses(2_000))
        #expect(few == many && many.allSatisfy { $0 < 20 })
    }

    @Test("The objects are changed in place, without a copy")
    func copies() throws {
        let controller = controller(of: 1_000)
        let store = controller.codableStore
        for number in 0..<200 { try store.save(Item(id: Counted(number), text: "new")) }
        for number in 0..<200 { try store.delete(identifier: Counted(number)) }
        #expect(controller.addresses.count == 400 && Set(controller.addresses.dropFirst()).count == 1)
        controller.addresses = []
        store.save(items(1_000..<3_000))
        // A growing array is reallocated occasionally.
        #expect(controller.addresses.count == 2_000 && Set(controller.addresses).count < 10)
        #expect(controller.codableStoreables.map(\.id.number) == Array(200..<3_000))
    }

    @Test("Deleting all objects calls every hook, without copying the array or accessing other objects")
    func deletingAll() throws {
        let controller = controller(of: 2_000)
        Counted.uses.withLock { $0 = 0 }
        try controller.codableStore.deleteCollection()
        #expect(Counted.uses.withLock { $0 } < 2_000 * 20)
        #expect(controller.counts == Array((0..<2_000).reversed()))
        #expect(Set(controller.addresses.dropFirst().dropLast()).count <= 2)
        #expect(controller.codableStoreables.isEmpty)
    }

    @Test("Random changes have the same effect as on an array, before and after each hook")
    func model() throws {
        let store = CodableStore<Item>(engine: .at(.memory()))
        let controller = Watcher(store)
        #expect(controller.codableStoreables.isEmpty)
        var model: [Item] = []
        var random = SeededGenerator(seed: Seed.current)
        print("controller model: EMPORIUM_SEED=\(Seed.current)")
        for step in 0..<600 {
            let before = model.map(Self.line)
            let id = Counted(Int.random(in: 0..<60, using: &random))
            let place = model.firstIndex { $0.id.number == id.number }
            if Bool.random(using: &random) {
                let item = Item(id: id, text: "\(step)")
                try store.save(item)
                if let place { model[place] = item } else { model.append(item) }
            } else if let place {
                try store.delete(identifier: id)
                model.remove(at: place)
            } else {
                continue
            }
            #expect(controller.before == before && controller.after == model.map(Self.line))
            #expect(controller.codableStoreables.map(Self.line) == model.map(Self.line))
        }
    }

    nonisolated private static func line(_ item: Item) -> String { "\(item.id.number) \(item.text)" }

    /// A controller that records the objects before and after each change.
    private final class Watcher: CodableStoreControllerable {
        let codableStore: CodableStore<Item>
        let subscriptionBag = ObserverableCodableStoreSubscriptionBag()
        var before: [String] = []
        var after: [String] = []

        init(_ store: CodableStore<Item>) { codableStore = store }

        func codableStoreablesWillUpdate(event: CodableStore<Item>.ObserveEvent, codableStoreables: [Item]) {
            before = self.codableStoreables.map(ControllerCostTests.line)
        }

        func codableStoreablesDidUpdate(event: CodableStore<Item>.ObserveEvent, codableStoreables: [Item]) {
            after = self.codableStoreables.map(ControllerCostTests.line)
            #expect(after == codableStoreables.map(ControllerCostTests.line))
        }
    }
}
