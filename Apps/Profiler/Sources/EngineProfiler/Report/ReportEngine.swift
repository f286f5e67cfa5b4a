/// An engine in a report.
struct ReportEngine {
    /// The position in the report, which determines the color.
    let index: Int
    /// The results.
    let result: EngineResult

    /// The number of colors.
    static let colors = 8

    /// The CSS class of the color.
    var color: String { "c\(index % Self.colors)" }

    /// The measurement with a number of items.
    func measurement(_ operation: String, items: Int) -> OperationResult? {
        result.measurements(of: operation).first { $0.items == items }?.measurement
    }
}
