/// Whether the locks of a process are to be released, and whether they are.
///
///                  next()               noteReleased()
///     running ──────────────► suspending ──────────────► suspended
///        ▲                                                   │
///        └───────────────────────────────────────────────────┘
///                                next()
///
/// A request and its withdrawal are not counted: the last one counts. Uses are, so that the locks are released after
/// the last one.
struct SuspensionState: Sendable {
    enum Phase { case running, suspending, suspended }

    enum Step { case suspend, resume }

    private(set) var phase = Phase.running
    private(set) var isRequested = false
    private var uses: Set<Int> = []
    private var lastUse = 0

    /// Whether the locks are to be released.
    var mustSuspend: Bool { isRequested && uses.isEmpty }

    /// Requests that the locks are released after all uses, or immediately.
    mutating func request(endingUses: Bool) {
        isRequested = true
        if endingUses { uses = [] }
    }

    /// Withdraws the request.
    mutating func withdraw() { isRequested = false }

    /// Begins to use storage in spite of a request.
    ///
    /// - Returns: The identifier of the use.
    mutating func beginUse() -> Int {
        lastUse += 1
        uses.insert(lastUse)
        return lastUse
    }

    /// Ends a use, which a request may have ended before.
    mutating func endUse(_ use: Int) { uses.remove(use) }

    /// The next step, which the caller carries out; `nil` if there is none, or if one is being carried out.
    mutating func next() -> Step? {
        switch (phase, mustSuspend) {
        case (.running, true):
            phase = .suspending
            return .suspend
        case (.suspended, false):
            phase = .running
            return .resume
        default:
            return nil
        }
    }

    /// Notes that all locks are released.
    mutating func noteReleased() { phase = .suspended }
}
