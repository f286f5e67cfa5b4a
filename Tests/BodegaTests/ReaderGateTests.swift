import Dispatch
import TestSupport
import Testing

@testable import Bodega

@Suite struct ReaderGateTests {

    @Test("Readers that wait on their thread and those that don't hold one share the places, and all get in")
    func sharing() async {
        let gate = ReaderGate(count: 2)
        let inside = Locked((now: 0, most: 0, all: 0))
        let visit: @Sendable () -> Void = {
            inside.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.all + 1) }
            inside.withLock { $0.now -= 1 }
            gate.leave()
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    await withCheckedContinuation { continuation in gate.enter { continuation.resume() } }
                    visit()
                }
            }
            group.addTask {
                await withCheckedContinuation { continuation in
                    DispatchQueue.global().async {
                        DispatchQueue.concurrentPerform(iterations: 50) { _ in
                            gate.enterWaiting()
                            visit()
                        }
                        continuation.resume()
                    }
                }
            }
        }
        #expect(inside.withLock { $0.all } == 100)
        #expect(inside.withLock { $0.most } <= 2)
        #expect(gate.tryEnter() && gate.tryEnter() && !gate.tryEnter())
    }
}
