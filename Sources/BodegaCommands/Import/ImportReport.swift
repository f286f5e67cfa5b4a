/// What an import did.
package struct ImportReport: Equatable, Sendable {
    /// The number of records that were written. Of several with one key the last one stays.
    package var imported = 0
    /// The number of records that were written in place of an item, or of an earlier record.
    package var replaced = 0
    /// The number of bad records that were left out.
    package var skipped = 0
    /// The number of bytes in the values that were written.
    package var bytes = 0

    /// Nothing done yet.
    package init() {}

    /// The report for programs.
    ///
    /// - Parameters:
    ///   - seconds: How long it took.
    ///   - failure: Why the import ended early, if it did.
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

    /// The report for humans.
    ///
    /// - Parameter seconds: How long it took, `nil` to leave it out, so that the text is the same each time.
    package func text(seconds: Double?) -> String {
        var text = "imported \(imported)"
        if replaced > 0 { text += ", \(replaced) of them in place of others" }
        if skipped > 0 { text += ", skipped \(skipped)" }
        if let seconds { text += Rate.text(of: imported, in: seconds) }
        return text + "\n"
    }
}
