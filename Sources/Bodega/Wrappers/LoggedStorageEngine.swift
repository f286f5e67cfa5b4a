public import Logging

/// An engine that logs each call of another engine. ``StorageEngine/logged(by:level:)`` creates one.
///
/// A call that succeeds is logged at the level of the wrapper, with its operation, its duration in milliseconds, the
/// number of items, keys or operations passed, and the number of bytes passed or returned. A call that fails is logged
/// at the level `error`, with the error; one whose task was cancelled is not a failure.
///
/// Keys of single items are logged. The items themselves are not.
public struct LoggedStorageEngine: ForwardingStorageEngine {
    public let base: any StorageBackend
    let logger: Logger
    let level: Logger.Level

    public func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        let start = ContinuousClock.now
        do {
            let answer = try await body()
            // The metadata is computed only if the level is logged.
            logger.log(
                level: level, "Called an engine.",
                metadata: metadata(of: call, since: start, bytes: call.byteCount + answer.value.byteCount))
            return answer
        } catch let error as CancellationError {
            logger.log(
                level: level, "A call of an engine was cancelled.", metadata: metadata(of: call, since: start))
            throw error
        } catch {
            var metadata = metadata(of: call, since: start)
            metadata["error"] = "\(error)"
            logger.error("A call of an engine failed.", metadata: metadata)
            throw error
        }
    }

    private func metadata(
        of call: StorageCall, since start: ContinuousClock.Instant, bytes: Int? = nil
    ) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "operation": "\(call.operation.rawValue)",
            "milliseconds": "\((ContinuousClock.now - start) / .milliseconds(1))",
        ]
        if let key = call.key { metadata["key"] = "\(key)" }
        if call.count > 1 { metadata["count"] = "\(call.count)" }
        if let bytes { metadata["bytes"] = "\(bytes)" }
        return metadata
    }
}

extension StorageEngine {

    /// Returns an engine that logs each call of this engine.
    ///
    /// ```swift
    /// let engine = MemoryStorageEngine().logged(by: Logger(label: "my-app.storage"))
    /// ```
    ///
    /// - Parameters:
    ///   - logger: The logger.
    ///   - level: The level of calls that succeed. Calls that fail are logged as errors.
    public func logged(by logger: Logger, level: Logger.Level = .debug) -> LoggedStorageEngine {
        LoggedStorageEngine(base: backend, logger: logger, level: level)
    }
}
