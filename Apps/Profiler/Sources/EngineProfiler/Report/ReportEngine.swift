/// An engine in a report.
struct ReportEngine {
    /// The position in the report, which determines the colour.
    let index: Int
    /// The results.
    let result: EngineResult

    /// The number of colours.
    static let colours = 8

    /// The CSS class of the colour.
    var colour: String { "c\(index % Self.colours)" }

    /// The measurement with a number of items.
    func measurement(_ operation: String, items: Int) -> OperationResult? {
        result.measurements(of: operation).first { $0.items == items }?.measurement
    }
}
