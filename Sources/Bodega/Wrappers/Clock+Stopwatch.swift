extension Clock<Duration> {

    /// Starts to measure time, and returns a closure that returns the time since then.
    package func stopwatch() -> @Sendable () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}
