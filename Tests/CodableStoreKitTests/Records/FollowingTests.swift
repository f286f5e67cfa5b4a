import Bodega
import CodableStoreKit
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import CodableStoreKit

@Suite struct FollowingTests {

    /// An empty collection that counts its followers.
    private final class Records: RecordCollection {
        let followers = Locked((now: 0, most: 0))

        func key(_ text: String) -> CacheKey { CacheKey(text) }
        func data(of key: CacheKey) -> Data? { nil }
        func contains(_ key: CacheKey) -> Bool { false }
        func items() -> [(key: CacheKey, data: Data)] { [] }
        func file(of key: CacheKey) -> URL? { nil }
        func update(
            _ body: @escaping @Sendable (any RecordContents) throws -> [StorageOperation],
            committed: @escaping @Sendable () -> Void
        ) {}

        func removeAll(committed: @escaping @Sendable ([(key: CacheKey, data: Data)]) -> Void) {}

        func transaction<Value>(_ body: () throws -> Value) throws -> Value { try body() }

        func follow(_ receive: @escaping @Sendable ([RecordEffect]) -> Void) -> (@Sendable () -> Void)? {
            followers.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            return { self.followers.withLock { $0.now -= 1 } }
        }
    }

    @Test("Foreign changes are followed once, even if observations begin and end concurrently")
    func followingOnce() {
        let records = Records()
        let core = CollectionCore(records)
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<5_000 {
                core.beginObservation()
                core.endObservation()
            }
        }
        #expect(records.followers.withLock { $0.most } == 1)
        #expect(records.followers.withLock { $0.now } == 0)
    }
}
