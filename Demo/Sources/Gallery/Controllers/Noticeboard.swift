/// Shows what came of the last thing that somebody did. It is not stored: after a restart it is of no interest.
@MainActor
final class Noticeboard {
    /// The notice that is shown, `nil` for none.
    private(set) var notice: Notice?

    /// Fires when there is another notice, or none.
    let changes = Signal()

    /// Shows a notice in place of the one before.
    func show(_ text: String, isError: Bool = false, offersUndo: Bool = false) {
        notice = Notice(text: text, isError: isError, offersUndo: offersUndo)
        changes.send()
    }

    /// Shows none.
    func clear() {
        if notice == nil { return }
        notice = nil
        changes.send()
    }
}
