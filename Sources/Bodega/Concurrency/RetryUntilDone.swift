/// Tries something until it is done: again after 100 ms, then after twice as long each time, at most a minute.
///
/// It ends without being done when the task is cancelled.
///
/// - Parameter attempt: Whether it is done; `nil` if whoever it was for is gone.
package func retryUntilDone(_ attempt: () async -> Bool?) async {
    var pause = Duration.milliseconds(100)
    while !Task.isCancelled, let isDone = await attempt(), !isDone {
        do { try await Task.sleep(for: pause) } catch { return }
        pause = min(pause * 2, .seconds(60))
    }
}
