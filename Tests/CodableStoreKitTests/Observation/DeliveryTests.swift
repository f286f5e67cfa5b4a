import CodableStoreKit
import Dispatch
import Foundation
import Testing

/// The threads that call observers, and how many calls they make.
@Suite struct DeliveryTests {

    /// An object that can block while it is encoded, during a save.
    private struct Message: CodableStoreable, Sendable {
        static var codableStoreIdentifier: KeyPath<Message, Int> { \.id }
        static var codableStoreCollectionName: String { "Messages" }
        let id: Int
        var gate: Gate?

        private enum CodingKeys: CodingKey { case id }

        init(id: Int, gate: Gate? = nil) { (self.id, self.gate) = (id, gate) }

        init(from decoder: any Decoder) throws {
            self.init(id: try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id))
        }

        func encode(to encoder: any Encoder) throws {
            gate?.pass()
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
        }
    }

    /// A gate that blocks a thread until it is opened, and signals the arrival of the thread.
    private final class Gate: Sendable {
        private let (arrival, opening) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))

        func pass() {
            arrival.signal()
            #expect(opening.wait(timeout: .now() + 60) == .success)
        }

        func waitForArrival() { #expect(arrival.wait(timeout: .now() + 60) == .success) }
        func open() { opening.signal() }
    }

    /// Runs a closure on another thread.
    private static func elsewhere(_ body: @escaping @Sendable () -> Void) -> DispatchGroup {
        let group = DispatchGroup()
        let thread = Thread(block: {
            body()
            group.leave()
        })
        group.enter()
        thread.start()
        return group
    }

    private static func wait(for group: DispatchGroup) {
        #expect(group.wait(timeout: .now() + 60) == .success)
    }

    @Test(
        "A thread that calls observers is not held up while other threads continue to make changes",
        arguments: [true, false])
    func handingOver(othersContinue: Bool) throws {
        let store = CodableStore<Message>(engine: .at(.memory()))
        let events = Events<Message>()
        let gate = Gate()
        let others = Locked<[DispatchGroup]>([])
        store.observeCollection { event in
            events.add(event)
            guard event.object.id == 1 else { return }
            // While this thread calls an observer, one save ends and leaves its observers to this thread. Another save
            // is in progress.
            Self.wait(for: Self.elsewhere { store.save([Message(id: 2)]) })
            if othersContinue {
                let other = Self.elsewhere { store.save([Message(id: 3, gate: gate)]) }
                gate.waitForArrival()
                others.withLock { $0 = [other] }
            }
        }
        try store.save(Message(id: 1))
        #expect(events.all == (othersContinue ? ["saved 1"] : ["saved 1", "saved 2"]))
        gate.open()
        for other in others.withLock({ $0 }) { Self.wait(for: other) }
        #expect(events.all == (othersContinue ? ["saved 1", "saved 2", "saved 3"] : ["saved 1", "saved 2"]))
    }

    @Test("A failed save calls the observers that another operation left to it")
    func failing() throws {
        let store = CodableStore<Picky>(engine: .at(.memory()))
        let events = Events<Picky>()
        store.observeCollection { event in
            events.add(event)
            if event.object.id == 1 { store.save([Picky(id: 2), Picky(id: 3, isWritable: false)]) }
        }
        try store.save(Picky(id: 1))
        #expect(events.all == ["saved 1", "saved 2"])
    }
}
