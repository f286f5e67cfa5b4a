public import Bodega

/// An engine that forwards every call to another engine and records it.
///
/// ```swift
/// let engine = RecordingStorageEngine(MemoryStorageEngine())
/// try await program(engine)
/// #expect(engine.calls.map(\.operation) == [.scan, .apply])
/// ```
///
/// It can do what the wrapped engine can, and also records the calls of its log and its indexes, but no signals of
/// changes. Copies share one record.
public struct RecordingStorageEngine: ForwardingStorageEngine {

    /// The wrapped engine.
    public let base: any StorageBackend

    private let record = Locked<[StorageEngineCall]>([])

    /// Creates an engine with an empty record.
    ///
    /// - Parameter base: The wrapped engine.
    public init(_ base: any StorageEngine) { self.base = base.backend }

    /// The calls so far, in the order in which they returned.
    public var calls: [StorageEngineCall] { record.withLock { $0 } }

    /// Empties the record.
    public func clearCalls() { record.withLock { $0 = [] } }

    /// Performs a call and records it.
    public func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        do {
            let answer = try await body()
            record.withLock { $0.append(StorageEngineCall(call: call, outcome: .success(answer.value))) }
            return answer
        } catch {
            record.withLock { $0.append(StorageEngineCall(call: call, outcome: .failure(error))) }
            throw error
        }
    }
}
