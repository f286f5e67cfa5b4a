package import Bodega

/// What a copy did.
package struct CopyReport: Sendable {
    /// The number of items that the source has.
    package var total = 0
    /// The number of items that were looked at.
    package var done = 0
    /// The number of items that were not there and are now.
    package var copied = 0
    /// The number of items that were there already, byte for byte.
    package var present = 0
    /// The number of items that took the place of others.
    package var overwritten = 0
    /// The number of bytes in the values that were written.
    package var bytes = 0
    /// The keys under which the destination has something else, which was left as it is.
    package var conflicts: [CacheKey] = []

    /// Whether something was written. If that has failed, or what was written could not be read back, it is not done, and may be
    /// there all the same.
    package var hasWritten = false

    /// Nothing done yet.
    package init() {}

    /// What the user is to know when a copy ends early.
    package var advice: String {
        if done == 0 && !hasWritten { return "Nothing was copied." }
        return "\(done) of \(total) items are done. Start the copy again to go on."
    }

    /// The report for programs.
    ///
    /// - Parameters:
    ///   - seconds: How long it took.
    ///   - failure: Why the copy is not complete, if it isn't.
    /// - Returns: A JSON object on a line.
    package func json(seconds: Double, failure: String?) -> [UInt8] {
        var object = JSONObjectWriter()
        object.add("copied", copied)
        object.add("present", present)
        object.add("overwritten", overwritten)
        object.add("conflicts", conflicts.map(\.rawValue))
        object.add("bytes", bytes)
        object.add("milliseconds", Int(seconds * 1000))
        if let failure { object.add("error", failure) }
        return object.line()
    }

    /// The report for humans.
    ///
    /// - Parameter seconds: How long it took, `nil` to leave it out, so that the text is the same each time.
    package func text(seconds: Double?) -> String {
        var text = "copied \(copied)"
        if overwritten > 0 { text += ", overwritten \(overwritten)" }
        if present > 0 { text += ", already there \(present)" }
        if !conflicts.isEmpty { text += ", different \(conflicts.count)" }
        if let seconds { text += Rate.text(of: copied + overwritten, in: seconds) }
        return text + "\n"
    }
}
