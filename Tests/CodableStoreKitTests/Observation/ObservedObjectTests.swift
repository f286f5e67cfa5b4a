import BodegaTesting
import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// Each test has its own type, because the observers of a type are notified of the changes of all tests.
private struct Leaf: CodableStoreable, Sendable {
    static var codableStoreIdentifier: KeyPath<Leaf, String> { \.id }
    static var codableStoreCollectionName: String { "Leaves" }
    let id: String
}

private final class Branch: CodableStoreable, @unchecked Sendable {
    static var codableStoreIdentifier: KeyPath<Branch, Int> { \.id }
    static var codableStoreCollectionName: String { "Branches" }
    /// The identifiers of the decoded instances.
    static let decoded = Locked<[Int]>([])
    let id: Int

    init(id: Int) { self.id = id }

    init(from decoder: any Decoder) throws {
        id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
        Self.decoded.withLock { [id] in $0.append(id) }
    }
}

@Suite struct `Observers of an object` {

    /// An observation as a naive model has it.
    private struct Observation {
        let number: Int
        /// The bytes of the identifier, `nil` if all objects are observed.
        let identifier: [UInt8]?
        let isOfType: Bool
        let subscription: ObservableCodableStoreSubscription
    }

    @Test func `are called as a model says, in the order in which they were added`() throws {
        var random = SeededGenerator(seed: Seed.current)
        print("observers of objects: EMPORIUM_SEED=\(Seed.current)")
        // Two of them are equal strings of different bytes.
        let ids = ["", "a", "b", "\u{E9}", "e\u{301}"]
        let store = CodableStore<Leaf>(engine: .at(.memory()))
        let (calls, observations) = (Locked<[String]>([]), Locked<[Observation]>([]))
        var (expected, count, stored): ([String], Int, [[UInt8]]) = ([], 0, [])

        func note(_ event: String, _ id: String) {
            for isOfType in [false, true] {
                for observation in observations.withLock({ $0 }) where observation.isOfType == isOfType {
                    if observation.identifier.map({ $0 == Array(id.utf8) }) ?? true {
                        expected.append("\(observation.number) \(event) \(Array(id.utf8))")
                    }
                }
            }
        }
        for _ in 0..<600 {
            let id = ids.randomElement(using: &random) ?? ""
            switch Int.random(in: 0..<10, using: &random) {
            case 0...3:
                let number = count
                count += 1
                let call: CodableStore<Leaf>.Observer = { event in
                    switch event {
                    case .saved(let leaf, _, _):
                        calls.withLock { $0.append("\(number) saved \(Array(leaf.id.utf8))") }
                    case .deleted(let leaf, _, _):
                        calls.withLock { $0.append("\(number) deleted \(Array(leaf.id.utf8))") }
                    }
                }
                let identifier = Bool.random(using: &random) ? id : nil
                let isOfType = Bool.random(using: &random)
                let subscription =
                    switch (identifier, isOfType) {
                    case (let id?, false): store.observe(identifier: id, on: .immediate, call)
                    case (nil, false): store.observeCollection(on: .immediate, call)
                    case (let id?, true): Leaf.observe(identifier: id, on: .immediate, call)
                    case (nil, true): Leaf.observeCollection(on: .immediate, call)
                    }
                observations.withLock {
                    $0.append(
                        Observation(
                            number: number, identifier: identifier.map { Array($0.utf8) }, isOfType: isOfType,
                            subscription: subscription))
                }
            case 4...6:
                observations.withLock { observations in
                    guard let index = observations.indices.randomElement(using: &random) else { return }
                    observations.remove(at: index).subscription.unsubscribe()
                }
            case 7:
                guard let index = stored.firstIndex(of: Array(id.utf8)) else { continue }
                stored.remove(at: index)
                note("deleted", id)
                try store.delete(identifier: id)
            default:
                if !stored.contains(Array(id.utf8)) { stored.append(Array(id.utf8)) }
                note("saved", id)
                try store.save(Leaf(id: id))
            }
        }
        #expect(calls.withLock { $0 } == expected && expected.count > 100)
        for observation in observations.withLock({ $0 }) { observation.subscription.unsubscribe() }
    }

    @Test func `of a class cost the others no decoding`() throws {
        let store = CodableStore<Branch>(engine: .at(.memory()))
        let seen = Locked<[Int]>([])
        var subscriptions: [ObservableCodableStoreSubscription] = []
        for id in 0..<200 {
            subscriptions.append(
                store.observe(identifier: id, on: .immediate) { event in
                    seen.withLock { $0.append(event.object.id) }
                })
            subscriptions.append(Branch.observe(identifier: id + 1_000, on: .immediate) { _ in })
        }
        for id in 0..<200 { try store.save(Branch(id: id)) }
        #expect(seen.withLock { $0 } == Array(0..<200))
        // Each observer gets a copy.
        #expect(Branch.decoded.withLock { $0 } == Array(0..<200))
        for subscription in subscriptions { subscription.unsubscribe() }
    }
}
