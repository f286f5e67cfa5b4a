import Bodega
import Foundation
import Testing

@testable import CodableStoreKit

/// How deep on the stack observers are found and called, which must not grow with the number of saves.
@Suite struct ObserverDepthTests {
    private struct Message: CodableStoreable, Sendable {
        static var codableStoreIdentifier: KeyPath<Message, Int> { \.id }
        static var codableStoreCollectionName: String { "Messages" }
        let id: Int
    }

    @Test func `The observers of a type are found as deep on the stack after many changes as after the first`() {
        let observers = Observers<Message>(DeliveryQueue())
        var depths: [Int] = []
        func find() -> ((Message) -> [Observers<Message>.Call])? {
            withUnsafeTemporaryAllocation(of: Int.self, capacity: 1) {
                depths.append(Int(bitPattern: $0.baseAddress))
            }
            return nil
        }
        observers.setTypeObservers(find)
        for id in 0..<1_000 { observers.enqueue(.saved(Message(id: id)), .removed(CacheKey("\(id)"), Data())) }
        #expect(depths.count == 1_000 && Set(depths).count == 1)
    }

    @Test func `A thread with a stack as small as Apple's threads have can save ten thousand objects`() async throws {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread {
                let store = CodableStore<Message>(engine: .at(.memory()))
                let saved = Result { for _ in 0..<10_000 { try store.save(Message(id: 0)) } }
                continuation.resume(with: saved)
            }
            thread.stackSize = 512 << 10
            thread.start()
        }
    }
}
