import Bodega
import BodegaTesting
import Boutique
import Foundation
import Testing

@Suite struct AsyncStoredValueFailureTests {
    let engine = MemoryStorageEngine()
    let failure = StorageError(.inputOutput, "Injected by the test.")

    private func text(_ key: String = "value") async throws -> String? {
        try await engine.fetch(key: CacheKey(key)).map { String(decoding: $0, as: UTF8.self) }
    }

    private func put(_ text: String) async throws {
        try await engine.write(Data(text.utf8), key: CacheKey("value"))
    }

    @Test func `A failed load is not treated as absence: changes throw until the value can be read`() async throws {
        try await put(#"{"value":5}"#)
        let faulty = FaultInjectingStorageEngine(engine, faults: [.fail(.reads, with: failure)])
        let value = AsyncStoredValue(key: "value", default: 0, storage: faulty)
        await #expect(throws: StorageError.self) { try await value.valueHasLoaded() }
        #expect((value.lastError as? StorageError)?.code == .inputOutput)
        await #expect(throws: StorageError.self) { try await value.modify { $0 += 1 } }
        await #expect(throws: StorageError.self) { try await value.set(9) }
        #expect(value.wrappedValue == 0)
        #expect(try await text() == #"{"value":5}"#)

        faulty.clearFaults()
        try await value.valueHasLoaded()
        #expect(value.wrappedValue == 5)
        try await value.modify { $0 += 1 }
        #expect(value.wrappedValue == 6)
        #expect(value.lastError == nil)
    }

    @Test
    func `A change ends when a mirror that is read first is outdated, or the engine always refuses`()
        async throws
    {
        let mirrored = engine.mirrored(to: MemoryStorageEngine(), readingMirror: .first)
        let value = AsyncStoredValue(key: "value", default: 0, storage: mirrored)
        try await value.set(1)
        // Another program, which does not know the mirror.
        try await put(#"{"value":41}"#)
        try await value.modify { $0 += 1 }
        #expect(value.wrappedValue == 42)
        #expect(try await text() == #"{"value":42}"#)

        let (calls, refused) = (Locked(0), MemoryStorageEngine())
        let refusing = AsyncStoredValue(key: "value", default: 0, storage: Refusing(base: refused, calls: calls))
        let error = await #expect(throws: StorageError.self) { try await refusing.set(1) }
        #expect(error?.code.rawValue == "conflict")
        #expect(calls.withLock { $0 } <= 1_000)
        #expect(try await refused.fetchCount() == 0)
    }

    /// Refuses all conditional batches. After 100,000 it fails.
    private struct Refusing: ForwardingStorageEngine {
        let base: any StorageBackend
        let calls: Locked<Int>

        func forward<Value: StorageAnswerValue>(
            _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
        ) async throws -> StorageAnswer<Value> {
            try await body()
        }

        func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
            guard batch.conditions != nil else { return try await base.apply(batch) }
            let count = calls.withLock { calls in
                calls += 1
                return calls
            }
            if count > 100_000 { throw StorageError(.inputOutput, "Called without end.") }
            return StorageAnswer(BatchOutcome(wasApplied: false))
        }
    }

    @Test func `A failed write changes and publishes nothing`() async throws {
        let faulty = FaultInjectingStorageEngine(engine)
        let value = AsyncStoredValue(key: "value", default: 0, storage: faulty)
        try await value.set(1)
        let seen = Record<Int>()
        let subscription = value.publisher.sink { seen.add($0) }
        faulty.inject(.fail(.writes, with: failure))
        await #expect(throws: StorageError.self) { try await value.set(2) }
        #expect(value.wrappedValue == 1)
        #expect((value.lastError as? StorageError)?.code == .inputOutput)
        faulty.clearFaults()
        try await value.set(3)
        #expect(value.lastError == nil)
        #expect(seen.elements == [1, 3])
        subscription.cancel()
    }

    @Test func `Defect 12: setting a value that cannot be encoded throws, and the previous value is unchanged`()
        async throws
    {
        let value = AsyncStoredValue(key: "value", default: Unencodable(number: 0), storage: engine)
        try await value.set(Unencodable(number: 1))
        let error = await #expect(throws: StorageError.self) { try await value.set(Unencodable(number: .nan)) }
        #expect(error?.code == .encodingFailed)
        #expect(value.wrappedValue.number == 1)
        #expect(try await text() == #"{"value":{"number":1}}"#)
    }

    @Test func `Defect 12: bytes that cannot be decoded are reported, and kept when the value is set`() async throws {
        try await put("first")
        let value = AsyncStoredValue(key: "value", default: 7, storage: engine)
        let error = await #expect(throws: StorageError.self) { try await value.valueHasLoaded() }
        #expect(error?.code == .decodingFailed)
        #expect(value.wrappedValue == 7)
        #expect(try await value.undecodableData() == [Data("first".utf8)])

        try await value.modify { $0 += 1 }
        #expect(value.wrappedValue == 8)
        #expect(value.lastError == nil)
        for bytes in ["second", "first"] {
            try await put(bytes)
            try await value.set(9)
        }
        #expect(try await value.undecodableData() == [Data("first".utf8), Data("second".utf8)])
        #expect(try await text("value.undecodable") == "first")
        #expect(try await text("value.undecodable-2") == "second")
        #expect(try await text() == #"{"value":9}"#)

        try await value.removeUndecodableData()
        #expect(try await value.undecodableData() == [])
        #expect(try await engine.fetchKeys() == [CacheKey("value")])
    }

    @Test func `A change before the value has been read waits for it`() async throws {
        try await put(#"{"value":5}"#)
        let gate = StorageGate()
        let slow = FaultInjectingStorageEngine(engine, faults: [.hold(.reads, at: gate)])
        let value = AsyncStoredValue(key: "value", default: 0, storage: slow)
        async let change: Void = value.modify { $0 += 1 }
        await gate.waitForArrivals(1)
        #expect(value.wrappedValue == 0)
        gate.release()
        try await change
        #expect(value.wrappedValue == 6)
    }
}
