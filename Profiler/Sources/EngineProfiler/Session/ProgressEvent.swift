/// What happens during a run, for whoever shows it.
enum ProgressEvent: Sendable {
    /// Items are written that are needed to measure.
    case filling(engine: String, items: Int, done: Int)
    /// An operation is being measured.
    case measuring(engine: String, items: Int, Operation, soFar: Latencies)
    /// An operation was measured.
    case measured(engine: String, items: Int, OperationResult)
}
