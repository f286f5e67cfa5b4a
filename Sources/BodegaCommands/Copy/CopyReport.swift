import Bodega
import RecordCoder

/// The result of a copy.
struct CopyReport: Sendable {
    /// The number of items in the source.
    var total = 0
    /// The number of items that were processed.
    var done = 0
    /// The number of items that were added to the destination.
    var copied = 0
    /// The number of items that the destination already had, byte for byte.
    var present = 0
    /// The number of items that replaced different ones.
    var overwritten = 0
    /// The number of bytes in the values that were written.
    var bytes = 0
    /// The keys of items that the destination has with different bytes and that were not replaced.
    var conflicts: [CacheKey] = []
    /// The items of the source that could not be read, for example because they can't be decrypted.
    let unreadable = UnreadableItems()

    /// Whether a write was attempted. The items of a write that failed or could not be read back are not counted as
    /// processed, but the destination may have them.
    var hasWritten = false

    /// The advice for the user when a copy ends early.
    var advice: String {
        done == 0 && !hasWritten ? progress : "\(progress) Run the same command again to continue."
    }

    /// How much was done when a copy ends early.
    var progress: String {
        if done == 0 && !hasWritten { return "Nothing was copied." }
        return "\(done) of \(Counted.text(total, "item")) \(done == 1 ? "is" : "are") done."
    }

    /// The report as a JSON object on a line.
    ///
    /// - Parameter failure: The error message, if the copy is incomplete.
    func json(seconds: Double, failure: String?) -> [UInt8] {
        let unreadable = unreadable.all.compactMap { $0.key?.rawValue }
        return JSONObjectWriter.line([
            "copied": copied, "present": present, "overwritten": overwritten, "conflicts": conflicts.map(\.rawValue),
            "unreadable": unreadable.isEmpty ? nil : unreadable, "bytes": bytes, "milliseconds": Int(seconds * 1000),
            "error": failure,
        ])
    }

    /// The report as text.
    ///
    /// - Parameter seconds: The duration, `nil` to leave it out, so that the text is reproducible.
    func text(seconds: Double?) -> String {
        var text = "copied \(copied)"
        if overwritten > 0 { text += ", overwritten \(overwritten)" }
        if present > 0 { text += ", already there \(present)" }
        if !conflicts.isEmpty { text += ", different \(conflicts.count)" }
        if let seconds { text += Counted.rate(of: copied + overwritten, in: seconds) }
        return text + "\n"
    }
}
