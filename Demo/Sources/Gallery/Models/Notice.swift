/// What the program has to say about the last thing that somebody did.
struct Notice: Sendable, Equatable {
    let text: String
    /// Whether it did not work.
    var isError = false
    /// Whether it can be undone.
    var offersUndo = false
}
