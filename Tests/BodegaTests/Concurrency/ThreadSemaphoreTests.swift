import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Bodega

@Suite struct ThreadSemaphoreTests {

    @Test func `A signal lets one wait end, also a later one`() {
        let semaphore = ThreadSemaphore(value: 1)
        #expect(semaphore.wait(timeout: .now()) == .success)
        #expect(semaphore.wait(timeout: .now()) == .timedOut)
        semaphore.signal()
        semaphore.signal()
        semaphore.wait()
        #expect(semaphore.wait(timeout: .distantFuture) == .success)
        #expect(semaphore.wait(timeout: .now()) == .timedOut)
    }

    @Test func `A wait without a signal ends at its time`() async {
        await blocking {
            let start = ContinuousClock.now
            #expect(ThreadSemaphore(value: 0).wait(timeout: .now() + .milliseconds(20)) == .timedOut)
            #expect(start.duration(to: .now) >= .milliseconds(20))
        }
    }

    @Test func `As many threads go on as there are signals`() async {
        let (semaphore, answers) = (ThreadSemaphore(value: 0), ThreadSemaphore(value: 0))
        let passed = Locked(0)
        for number in 0..<8 {
            Thread.detachNewThread {
                for _ in 0..<500 {
                    if number.isMultiple(of: 2) {
                        semaphore.wait()
                    } else if semaphore.wait(timeout: .distantFuture) == .timedOut {
                        continue
                    }
                    passed.withLock { $0 += 1 }
                    answers.signal()
                }
            }
        }
        await blocking {
            for _ in 0..<4_000 { semaphore.signal() }
            for _ in 0..<4_000 { answers.wait() }
        }
        #expect(passed.withLock { $0 } == 4_000)
        #expect(semaphore.wait(timeout: .now()) == .timedOut && answers.wait(timeout: .now()) == .timedOut)
    }
}
