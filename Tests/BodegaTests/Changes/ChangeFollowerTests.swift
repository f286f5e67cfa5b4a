import Bodega
import BodegaTesting
import Foundation
import Logging
import TestSupport
import Testing

@Suite struct `A follower whose attempt fails` {
    private let levels: AsyncStream<Logger.Level>
    private let logger: Logger

    init() {
        let (levels, continuation) = AsyncStream.makeStream(of: Logger.Level.self)
        self.levels = levels
        logger = Logger { level, _ in continuation.yield(level) }
    }

    @Test func `retries, and logs a cause as a warning once`() async throws {
        let follower = ChangeFollower()
        let attempts = Locked(0)
        let (succeeded, success) = AsyncStream.makeStream(of: Int.self)
        follower.begin("Test", logger: logger) {
            let attempt = attempts.withLock { count in
                count += 1
                return count
            }
            if attempt < 3 { throw StorageError(.inputOutput, "It failed.") }
            success.yield(attempt)
        }
        follower.catchUp()
        for await attempt in succeeded {
            #expect(attempt == 3)
            break
        }
        var iterator = levels.makeAsyncIterator()
        #expect(await iterator.next() == .warning)
        #expect(await iterator.next() == .debug)
    }

    @Test(arguments: [StorageError.Code.closed, .readOnly])
    func `waits for a signal if a retry can't succeed`(_ code: StorageError.Code) async throws {
        let follower = ChangeFollower()
        follower.begin("Test", logger: logger) { throw StorageError(code, "It failed.") }
        var iterator = levels.makeAsyncIterator()
        for _ in 0..<3 {
            follower.catchUp()
            #expect(await iterator.next() == .debug)
        }
    }
}
