/// Runs an operation and cancels it after a time limit.
///
/// - Parameters:
///   - limit: The time limit.
///   - operation: The operation. It must return soon after its cancellation.
/// - Returns: The operation's result.
/// - Throws: The operation's error, or a `CancellationError` if the time limit has passed.
package func withDeadline<Result: Sendable>(
    _ limit: Duration,
    _ operation: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
        group.addTask(operation: operation)
        group.addTask {
            try await Task.sleep(for: limit)
            throw CancellationError()
        }
        defer { group.cancelAll() }
        guard let result = try await group.next() else { throw CancellationError() }
        return result
    }
}
