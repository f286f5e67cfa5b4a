/// The outcome of the user's last action.
struct Notice: Sendable, Equatable {
    let text: String
    /// Whether the action failed.
    var isError = false
    /// Whether the action can be undone.
    var offersUndo = false
}
