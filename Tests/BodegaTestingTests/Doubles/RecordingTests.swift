import Bodega
import BodegaTesting
import Foundation
import Testing

@Suite struct `A recording` {

    @Test func `has the calls with keys and results`() async throws {
        let base = FaultInjectingStorageEngine(MemoryStorageEngine(), faults: [.fail([.fetchCount])])
        let engine = RecordingStorageEngine(base)
        let (a, b) = (CacheKey("a"), CacheKey("b"))
        try await engine.write(Data([1]), key: a)
        try await engine.apply([.removeAll, .write(key: b, data: Data([2])), .remove(key: a)])
        _ = try await engine.fetch(key: b)
        _ = await engine.keysExist([a, b])
        _ = await engine.keyCount()
        let calls = engine.calls
        #expect(calls.map(\.operation) == [.write, .apply, .fetch, .fetchKeysAmong, .fetchCount])
        #expect(calls.map(\.keys) == [[a], [b, a], [b], [a, b], []])
        guard case .data(Data([2])) = calls[2].outcome else { throw Unexpected(calls[2]) }
        guard case .keys([b]) = calls[3].outcome else { throw Unexpected(calls[3]) }
        #expect(calls.map { $0.error != nil } == [false, false, false, false, true])
        engine.clearCalls()
        #expect(engine.calls.isEmpty)
    }

    private struct Unexpected: Error {
        let call: StorageEngineCall
        init(_ call: StorageEngineCall) { self.call = call }
    }
}
