#if Server
/// Answers whether a server can carry out requests.
///
/// Anybody may ask. So at most one check runs at a time, and its outcome holds for a second.
actor Readiness {
    private let check: @Sendable () async throws -> Void
    private let limit: Duration
    private var isChecking = false
    private var last: (isReady: Bool, time: ContinuousClock.Instant)?
    private var lastNumber = 0
    private var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]

    /// - Parameters:
    ///   - limit: How long the check may take.
    ///   - check: Throws if the server can't carry out requests.
    init(within limit: Duration, _ check: @escaping @Sendable () async throws -> Void) {
        (self.limit, self.check) = (limit, check)
    }

    /// Whether the last check has succeeded in time.
    func isReady() async -> Bool {
        if let last, last.time.duration(to: .now) < .seconds(1) { return last.isReady }
        if !isChecking {
            isChecking = true
            Task { await runCheck() }
        }
        lastNumber += 1
        let number = lastNumber
        let timer = Task {
            do { try await Task.sleep(for: limit) } catch { return }
            waiting.removeValue(forKey: number)?.resume(returning: false)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { waiting[number] = $0 }
    }

    private func runCheck() async {
        var isReady = true
        do { try await check() } catch { isReady = false }
        (isChecking, last) = (false, (isReady, .now))
        for waiter in waiting.values { waiter.resume(returning: isReady) }
        waiting = [:]
    }
}
#endif
