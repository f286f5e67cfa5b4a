import Bodega
import BodegaSync
import Foundation
import RecordCoder

/// A change in the outbox as it is listed.
struct OutboxEntry: JSONObjectMember {
    let change: PendingChange

    /// What has happened to the item.
    private var kind: String { change.data == nil ? "removed" : "written" }

    private var state: String { change.failure != nil ? "parked" : change.isSent ? "sent" : "waiting" }

    /// The columns of a table.
    static let header = ["collection", "change", "state", "key", "reason"]

    /// The cells of a row.
    var cells: [String] {
        [change.collection, kind, state, change.key.rawValue, change.failure.map { "\($0)" } ?? ""]
    }

    func add(to object: inout JSONObjectWriter) {
        object.add("collection", change.collection)
        object.add("key", change.key.rawValue)
        object.add("kind", change.key.kind.rawValue)
        object.add("change", kind)
        object.add("state", state)
        guard let failure = change.failure else { return }
        object.add("code", failure.code)
        object.add("message", failure.message)
    }

    /// The line of a JSON object.
    var json: [UInt8] {
        var object = JSONObjectWriter()
        add(to: &object)
        return object.line()
    }
}

/// The bytes of an item as the member of an object: in the members of an export.
struct StoredVersion: JSONObjectMember {
    let data: Data

    func add(to object: inout JSONObjectWriter) { Envelope.add(data, to: &object) }

    /// The bytes as text on one line.
    static func text(_ data: Data?, ifNone none: String) -> String {
        guard let data else { return none }
        guard let text = String(validating: data, as: UTF8.self) else { return "base64 \(data.base64EncodedString())" }
        return TerminalText.escaped(text)
    }
}
