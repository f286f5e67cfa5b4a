/// Runs an operation, and cancels it if it takes too long.
///
/// - Parameters:
///   - limit: How long it may take.
///   - operation: Must end soon after it was cancelled.
/// - Returns: What the operation returns.
/// - Throws: What the operation throws, or a `CancellationError` if it took too long.
func withDeadline<Result: Sendable>(
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
