/// The time before something is tried again that has failed, longer each time.
struct RetryPause {
    private var duration = Duration.milliseconds(100)

    /// Waits, at most a minute.
    ///
    /// - Throws: When the task is cancelled.
    mutating func wait() async throws {
        try await Task.sleep(for: duration)
        duration = min(duration * 2, .seconds(60))
    }
}
