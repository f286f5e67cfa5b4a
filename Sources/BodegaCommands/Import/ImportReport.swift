import RecordCoder

/// The result of an import.
struct ImportReport: Equatable, Sendable {
    /// The number of records that were written. Of several with the same key the last one is kept.
    var imported = 0
    /// The number of records that replaced an item or an earlier record.
    var replaced = 0
    /// The number of bad records that were left out.
    var skipped = 0
    /// The number of bytes in the values that were written.
    var bytes = 0

    /// The report as a JSON object on a line.
    ///
    /// - Parameter failure: The error message, if the import ended early.
    func json(seconds: Double, failure: String?) -> [UInt8] {
        JSONObjectWriter.line([
            "imported": imported, "replaced": replaced, "skipped": skipped, "bytes": bytes,
            "milliseconds": Int(seconds * 1000), "error": failure,
        ])
    }

    /// The report as text.
    ///
    /// - Parameter seconds: The duration, `nil` to leave it out, so that the text is reproducible.
    func text(seconds: Double?) -> String {
        var text = "imported \(imported)"
        if replaced > 0 { text += ", \(replaced) of them in place of others" }
        if skipped > 0 { text += ", skipped \(skipped)" }
        if let seconds { text += Counted.rate(of: imported, in: seconds) }
        return text + "\n"
    }
}
