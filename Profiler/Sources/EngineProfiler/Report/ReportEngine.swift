/// An engine in a report.
struct ReportEngine {
    /// Its place in the report, from which its colour follows.
    let index: Int
    /// What was found out about it.
    let result: EngineResult

    /// How many colours there are.
    static let colours = 8

    /// The class that gives an element the colour.
    var colour: String { "c\(index % Self.colours)" }

    /// What was measured with a number of items.
    func measurement(_ operation: String, items: Int) -> OperationResult? {
        result.measurements(of: operation).first { $0.items == items }?.measurement
    }
}
