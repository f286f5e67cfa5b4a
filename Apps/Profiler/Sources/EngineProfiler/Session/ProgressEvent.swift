/// An event of a run for the progress view.
enum ProgressEvent: Sendable {
    /// The items are being written.
    case filling(engine: String, items: Int, done: Int)
    /// An operation is being measured.
    case measuring(engine: String, items: Int, Operation, soFar: Latencies)
    /// An operation has been measured.
    case measured(engine: String, items: Int, OperationResult)
}
