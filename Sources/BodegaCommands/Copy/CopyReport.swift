package import Bodega

/// The result of a copy.
package struct CopyReport: Sendable {
    /// The number of items in the source.
    package var total = 0
    /// The number of items that were processed.
    package var done = 0
    /// The number of items that were added to the destination.
    package var copied = 0
    /// The number of items that the destination already had, byte for byte.
    package var present = 0
    /// The number of items that replaced different ones.
    package var overwritten = 0
    /// The number of bytes in the values that were written.
    package var bytes = 0
    /// The keys of items that the destination has with different bytes and that were not replaced.
    package var conflicts: [CacheKey] = []
    /// The items of the source that could not be read, for example because they can't be decrypted.
    package let unreadable = UnreadableItems()

    /// Whether a write was attempted. The items of a write that failed or could not be read back are not counted as
    /// processed, but the destination may have them.
    package var hasWritten = false

    /// Creates an empty report.
    package init() {}

    /// The advice for the user when a copy ends early.
    package var advice: String {
        done == 0 && !hasWritten ? progress : "\(progress) Run the same command again to continue."
    }

    /// How much was done when a copy ends early.
    package var progress: String {
        if done == 0 && !hasWritten { return "Nothing was copied." }
        return "\(done) of \(Counted.text(total, "item")) \(done == 1 ? "is" : "are") done."
    }

    /// The report as JSON.
    ///
    /// - Parameters:
    ///   - seconds: The duration.
    ///   - failure: The error message, if the copy is incomplete.
    /// - Returns: A JSON object on a line.
    package func json(seconds: Double, failure: String?) -> [UInt8] {
        var object = JSONObjectWriter()
        object.add("copied", copied)
        object.add("present", present)
        object.add("overwritten", overwritten)
        object.add("conflicts", conflicts.map(\.rawValue))
        let unreadable = unreadable.all.compactMap { $0.key?.rawValue }
        if !unreadable.isEmpty { object.add("unreadable", unreadable) }
        object.add("bytes", bytes)
        object.add("milliseconds", Int(seconds * 1000))
        if let failure { object.add("error", failure) }
        return object.line()
    }

    /// The report as text.
    ///
    /// - Parameter seconds: The duration, `nil` to leave it out, so that the text is reproducible.
    package func text(seconds: Double?) -> String {
        var text = "copied \(copied)"
        if overwritten > 0 { text += ", overwritten \(overwritten)" }
        if present > 0 { text += ", already there \(present)" }
        if !conflicts.isEmpty { text += ", different \(conflicts.count)" }
        if let seconds { text += Rate.text(of: copied + overwritten, in: seconds) }
        return text + "\n"
    }
}
