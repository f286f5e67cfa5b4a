/// The outcome of the last action of a user, shown for as long as it takes to read it. It is not stored, because it is stale
/// after a restart.
@MainActor
final class Noticeboard {
    /// The notice that is shown, `nil` for none.
    private(set) var notice: Notice?

    /// Fires when there is another notice, or none.
    let changes = Signal()

    private let time: Duration
    private let pause: @Sendable (Duration) async throws -> Void
    private var leaving: Task<Void, Never>?

    /// Creates a noticeboard without a notice.
    ///
    /// - Parameters:
    ///   - time: How long a notice stays. One that offers something to do stays longer, and an error the longest.
    ///   - pause: Waits for a time, or throws when its task is cancelled.
    init(
        time: Duration = .seconds(8),
        pause: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.time = time
        self.pause = pause
    }

    /// Shows a notice in place of the one before.
    func show(_ text: String, isError: Bool = false, offersUndo: Bool = false) {
        notice = Notice(text: text, isError: isError, offersUndo: offersUndo)
        leaving?.cancel()
        leaving = Task { [weak self, pause, stay = time * (isError ? 8 : offersUndo ? 4 : 1)] in
            do {
                try await pause(stay)
                try Task.checkCancellation()
                self?.clear()
            } catch {
                // Another notice has taken its place, or a user has dismissed it.
            }
        }
        changes.send()
    }

    /// Shows none.
    func clear() {
        leaving?.cancel()
        leaving = nil
        if notice == nil { return }
        notice = nil
        changes.send()
    }
}
