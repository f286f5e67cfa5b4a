/// Retries an operation with exponential backoff: after 100 ms at first, after a minute at most.
///
/// Retrying ends when the operation is done, is no longer needed, or the task is cancelled.
///
/// - Parameter attempt: Tries the operation. Returns whether it is done; `nil` if it is no longer needed.
package func retryUntilDone(_ attempt: () async -> Bool?) async {
    var pause = Duration.milliseconds(100)
    while !Task.isCancelled, let isDone = await attempt(), !isDone {
        do { try await Task.sleep(for: pause) } catch { return }
        pause = min(pause * 2, .seconds(60))
    }
}
