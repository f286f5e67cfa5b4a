import Bodega
import BodegaTesting
import Foundation
import Testing

@Suite struct `A recording` {

    @Test func `has the calls with keys and results`() async throws {
        let base = FaultInjectingStorageEngine(MemoryStorageEngine(), faults: [.fail([.scan])])
        let engine = RecordingStorageEngine(base)
        let (a, b) = (CacheKey("a"), CacheKey("b"))
        try await engine.write(Data([1]), key: a)
        try await engine.apply([.removeAll, .write(key: b, data: Data([2])), .remove(key: a)])
        _ = try await engine.fetch(key: b)
        _ = await engine.keysExist([a, b])
        _ = await engine.keyCount()
        let calls = engine.calls
        #expect(calls.map(\.operation) == [.apply, .apply, .fetch, .fetch, .scan])
        #expect(calls.map(\.keys) == [[a], [b, a], [b], [a, b], []])
        #expect(try calls[2].outcome.get() as? Data == Data([2]))
        #expect((try calls[3].outcome.get() as? [StorageItem])?.map(\.key) == [b])
        #expect(calls.map { $0.error != nil } == [false, false, false, false, true])
        engine.clearCalls()
        #expect(engine.calls.isEmpty)
    }
}
