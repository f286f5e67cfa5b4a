/// The result of an import.
package struct ImportReport: Equatable, Sendable {
    /// The number of records that were written. Of several with the same key the last one is kept.
    package var imported = 0
    /// The number of records that replaced an item or an earlier record.
    package var replaced = 0
    /// The number of bad records that were left out.
    package var skipped = 0
    /// The number of bytes in the values that were written.
    package var bytes = 0

    /// Creates an empty report.
    package init() {}

    /// The report as JSON.
    ///
    /// - Parameters:
    ///   - seconds: The duration.
    ///   - failure: The error message, if the import ended early.
    /// - Returns: A JSON object on a line.
    package func json(seconds: Double, failure: String?) -> [UInt8] {
        var object = JSONObjectWriter()
        object.add("imported", imported)
        object.add("replaced", replaced)
        object.add("skipped", skipped)
        object.add("bytes", bytes)
        object.add("milliseconds", Int(seconds * 1000))
        if let failure { object.add("error", failure) }
        return object.line()
    }

    /// The report as text.
    ///
    /// - Parameter seconds: The duration, `nil` to leave it out, so that the text is reproducible.
    package func text(seconds: Double?) -> String {
        var text = "imported \(imported)"
        if replaced > 0 { text += ", \(replaced) of them in place of others" }
        if skipped > 0 { text += ", skipped \(skipped)" }
        if let seconds { text += Rate.text(of: imported, in: seconds) }
        return text + "\n"
    }
}
