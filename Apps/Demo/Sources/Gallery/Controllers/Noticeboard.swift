/// The outcome of the user's last action, shown for long enough to be read. It is not stored, because it is stale after
/// a restart.
@MainActor
final class Noticeboard {
    /// The current notice, if any.
    private(set) var notice: Notice?

    /// Fires when ``notice`` has changed.
    let changes = Signal()

    private let time: Duration
    private let pause: @Sendable (Duration) async throws -> Void
    private var leaving: Task<Void, Never>?

    /// Creates a noticeboard without a notice.
    ///
    /// - Parameters:
    ///   - time: How long a notice is shown. A notice that offers to undo an action stays four times as long, and an
    ///     error eight times.
    ///   - pause: Sleeps for a duration, or throws when its task is cancelled.
    init(
        time: Duration = .seconds(8),
        pause: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.time = time
        self.pause = pause
    }

    /// Shows a notice and replaces the current one.
    func show(_ text: String, isError: Bool = false, offersUndo: Bool = false) {
        notice = Notice(text: text, isError: isError, offersUndo: offersUndo)
        leaving?.cancel()
        leaving = Task { [weak self, pause, stay = time * (isError ? 8 : offersUndo ? 4 : 1)] in
            do {
                try await pause(stay)
                try Task.checkCancellation()
                self?.clear()
            } catch {
                // Another notice has replaced this one, or the user has dismissed it.
            }
        }
        changes.send()
    }

    /// Removes the notice.
    func clear() {
        leaving?.cancel()
        leaving = nil
        if notice == nil { return }
        notice = nil
        changes.send()
    }
}
