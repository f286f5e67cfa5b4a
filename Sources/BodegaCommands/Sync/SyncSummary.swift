import Bodega
import BodegaSync
import RecordCoder

/// The result of a synchronization.
struct SyncSummary: Sendable {
    /// The number of changes that the remote database has accepted.
    let sent: Int
    /// The number of items of the remote database that have differed.
    let received: Int
    /// The number of changes that were merged.
    let merged: Int
    /// The changes that the remote database refuses.
    let parked: [PendingChange]

    init(_ outcomes: [SyncOutcome], received: Int, parked: [PendingChange]) {
        sent = outcomes.count { $0.kind == .accepted }
        merged = outcomes.count { if case .merged = $0.kind { true } else { false } }
        (self.received, self.parked) = (received, parked)
    }

    /// Whether nothing was done.
    var isEmpty: Bool { sent + received + merged + parked.count == 0 }

    /// The summary as text.
    var text: String {
        var text = "sent \(sent), received \(received)"
        if merged > 0 { text += ", merged \(merged)" }
        if !parked.isEmpty { text += ", refused \(parked.count)" }
        return text + "\n"
    }

    /// The summary as a JSON object on a line.
    var json: [UInt8] {
        JSONObjectWriter.line([
            "sent": sent, "received": received, "merged": merged, "refused": parked.map(OutboxEntry.init),
        ])
    }

    /// The error for changes that are refused, `nil` if there are none.
    var error: ToolError? {
        if parked.isEmpty { return nil }
        let lines = parked.map { change in
            "\(change.collection)  \(change.key)  \(change.failure.map { "\($0)" } ?? "")"
        }
        let what =
            parked.count == 1 ? "A change is refused, and stays" : "\(parked.count) changes are refused, and stay"
        let text = ["\(what) in the outbox, see bodega help outbox:"] + ToolError.list(lines)
        return ToolError(.failure, text.joined(separator: "\n"))
    }
}
