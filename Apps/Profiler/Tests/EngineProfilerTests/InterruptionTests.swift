import Foundation
import Testing

@testable import EngineProfiler

@Suite struct InterruptionTests {

    @Test func `The lock is held from the cleanup to the end of the process`() async {
        let (steps, step) = AsyncStream<Bool>.makeStream()
        let interruption = Locked<Interruption?>(nil)
        let isLocked: @Sendable () -> Bool = { !(interruption.value?.lock.try() ?? true) }
        interruption.value = Interruption(
            by: [SIGUSR1],
            cleanUp: { step.yield(isLocked()) },
            end: { number in
                step.yield(isLocked() && number == SIGUSR1)
                step.finish()
            })
        kill(getpid(), SIGUSR1)
        #expect(await Array(steps) == [true, true])
        #expect(isLocked())
    }

    @Test func `Cancelling restores the default actions of the signals`() {
        let interruption = Interruption(by: [SIGUSR2], cleanUp: {}, end: { _ in })
        #expect(interruption.unlessInterrupted { 7 } == 7)
        interruption.cancel()
        // The result is the former action.
        let former = signal(SIGUSR2, SIG_DFL)
        #expect(former == nil)
    }
}

/// A value shared by threads.
private final class Locked<Value>: @unchecked Sendable {
    // @unchecked because the lock guards all mutable state.
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value {
        get { lock.withLock { stored } }
        set { lock.withLock { stored = newValue } }
    }
}

extension Array {
    /// The elements of a finite sequence.
    fileprivate init(_ sequence: some AsyncSequence<Element, Never>) async {
        self = []
        for await element in sequence { append(element) }
    }
}
