/// The time before something is tried again that has failed, longer each time.
package struct RetryPause: Sendable {
    private var duration = Duration.milliseconds(100)

    /// The shortest pause comes next.
    package init() {}

    /// Waits, at most a minute.
    ///
    /// - Throws: When the task is cancelled.
    package mutating func wait() async throws {
        try await Task.sleep(for: duration)
        duration = min(duration * 2, .seconds(60))
    }
}
