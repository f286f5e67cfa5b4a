import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// What wrappers do with a batch that has an identifier.
struct BatchIdentifierTests {
    private let identifier = UUID()
    private let key = CacheKey(verbatim: "k")
    private let base = MemoryStorageEngine()

    private func write(_ text: String, _ identifier: UUID? = nil, if conditions: [StorageCondition]? = nil)
        -> StorageBatch
    {
        var batch = StorageBatch([.write(key: key, data: Data(text.utf8))], if: conditions)
        batch.identifier = identifier
        return batch
    }

    private func wrapped(_ engine: some StorageEngine, _ wrapper: Wrapper) throws -> any StorageBackend {
        wrapper.wrap(engine, in: StorageEngineConformance.Workspace()).backend
    }

    @Test(arguments: Wrapper.all)
    func `A wrapper passes on the identifier and the trait`(_ wrapper: Wrapper) async throws {
        let recorder = ReceiptedEngine(base)
        let engine = try wrapped(recorder, wrapper)
        #expect(engine.traits.contains(.receipts))
        #expect(try !wrapped(base, wrapper).traits.contains(.receipts))
        _ = try await engine.apply(write("1", identifier))
        #expect(recorder.batches.map(\.identifier) == [identifier])
        let (unmet, met) = (UUID(), UUID())
        let condition = StorageCondition(key: key, data: Data("0".utf8))
        #expect(try await !engine.apply(write("2", unmet, if: [condition])).value.wasApplied)
        #expect(recorder.batches.dropFirst().allSatisfy { $0.identifier == unmet })
        let count = recorder.batches.count
        let now = StorageCondition(key: key, data: Data("1".utf8))
        #expect(try await engine.apply(write("2", met, if: [now])).value.wasApplied)
        #expect(recorder.batches.dropFirst(count).map(\.identifier) == [met])
        _ = try await engine.apply(write("3"))
        #expect(recorder.batches.last?.identifier == nil)
    }

    @Test(arguments: Wrapper.all)
    func `A batch that was applied before another one does not hide that`(_ wrapper: Wrapper) async throws {
        let engine = try wrapped(ReceiptedEngine(base), wrapper)
        _ = try await engine.apply(write("1", identifier))
        #expect(try await engine.fetch(key: key) == Data("1".utf8))
        _ = try await engine.apply(write("2"))
        #expect(try await engine.apply(write("1", identifier)).value.wasApplied)
        #expect(try await engine.fetch(key: key) == Data("2".utf8))
        let items = try await engine.fetch(FetchRequest([key])).value
        #expect(items.map(\.data) == [Data("2".utf8)])
    }

    @Test func `A cache does not keep the items of a batch that may have been applied before`() async throws {
        let engine = WithoutLog(ReceiptedEngine(base)).cached()
        _ = try await engine.apply(write("1", identifier))
        // By another writer, whose changes such a cache can't notice.
        try await base.write(Data("2".utf8), key: key)
        _ = try await engine.apply(write("1", identifier))
        #expect(try await engine.fetch(key: key) == Data("2".utf8))
        _ = try await engine.apply(write("3"))
        try await base.write(Data("4".utf8), key: key)
        #expect(try await engine.fetch(key: key) == Data("3".utf8))
    }

    @Test func `A mirror gets the items of its base instead of those of a batch that was applied before`() async throws
    {
        let mirror = MemoryStorageEngine()
        let engine = ReceiptedEngine(base).mirrored(to: mirror, readingMirror: .first)
        for batch in [write("1", identifier), write("2"), write("1", identifier)] { _ = try await engine.apply(batch) }
        #expect(try await mirror.fetch(key: key) == Data("2".utf8))
        #expect(try await engine.fetch(key: key) == Data("2".utf8))
        #expect(engine.isMirrorComplete)
    }

    @Test func `A limit counts the items of its base instead of those of a batch that was applied before`() async throws
    {
        let engine = ReceiptedEngine(base).limited(bytes: 10)
        for batch in [write("1", identifier), write("123456789"), write("1", identifier)] {
            _ = try await engine.apply(batch)
        }
        try await engine.write(Data("12345".utf8), key: CacheKey(verbatim: "other"))
        #expect(try await base.fetchKeys().map(\.rawValue) == ["other"])
    }

    @Test func `A batch with an identifier is tried again, also one that is not idempotent`() async throws {
        let lost = StorageError(.unreachable, "The answer is lost.")
        for isReceipted in [false, true] {
            let base = MemoryStorageEngine()
            let inner: any StorageEngine = isReceipted ? ReceiptedEngine(base) : base
            func retrying(_ engine: some StorageEngine) -> any StorageBackend {
                let faults: [StorageFault] = [.failAfterwards([.apply], .number(1), with: lost)]
                return FaultInjectingStorageEngine(engine, faults: faults).retrying(clock: InstantClock()).backend
            }
            let engine = retrying(inner)
            let batch = write("1", identifier, if: [StorageCondition(key: key, data: nil)])
            if isReceipted {
                #expect(try await engine.apply(batch).value.wasApplied)
            } else {
                await #expect(throws: StorageError.self) { _ = try await engine.apply(batch) }
            }
            #expect(try await base.fetch(key: key) == Data("1".utf8))
        }
    }

    @Test func `Batches that are applied together have one identifier`() async throws {
        let recorders = ["a", "b"].map { ReceiptedEngine(base.collection(named: $0)) }
        let engines = [recorders[0].retrying() as any StorageBackend, recorders[1].prefixed("p")]
        _ = try await StorageBatchGroup.apply(
            zip(engines, [write("1", identifier), write("2", identifier)]).map { ($0, $1) })
        #expect(recorders.map { $0.batches.map(\.identifier) } == [[identifier], [identifier]])
        for other in [nil, UUID()] {
            let error = await #expect(throws: StorageError.self) {
                let batches = [write("3", identifier), write("4", other)]
                _ = try await StorageBatchGroup.apply(zip(engines, batches).map { ($0, $1) })
            }
            #expect(error?.code == .invalidArgument)
        }
        #expect(try await recorders[0].base.fetch(key: key) == Data("1".utf8))
    }

    @Test func `A database without receipts can't fence a batch`() async throws {
        let error = await #expect(throws: StorageError.self) { _ = try await base.database?.fence(identifier) }
        #expect(error?.code == .invalidArgument)
    }
}
