import Bodega
import BodegaTesting
import Foundation
import Testing

@Suite struct `A gate` {

    @Test func `releases a cancelled call with an error`() async {
        let gate = StorageGate()
        let waiting = Task { try await gate.pass() }
        await gate.waitForArrivals(1)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func `rejects a call that was cancelled before`() async {
        let gate = StorageGate()
        let start = StorageGate()
        let waiting = Task {
            try? await start.pass()
            try await gate.pass()
        }
        waiting.cancel()
        start.release()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func `closes again and counts those that passed`() async throws {
        let gate = StorageGate(isOpen: true)
        try await gate.pass()
        gate.hold()
        async let second: Void = gate.pass()
        async let third: Void = gate.pass()
        await gate.waitForArrivals(3)
        #expect(gate.arrivals == 3)
        gate.release()
        _ = try await (second, third)
    }
}
