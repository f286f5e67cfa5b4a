import Bodega
import BodegaSync
import Foundation
import RecordCoder

/// The format in which outcomes are shown.
struct SyncLines: Sendable {
    /// Whether a line is a JSON object.
    let isJSON: Bool
    /// The console that shows the lines.
    let console: Console

    /// The line for what has become of a change.
    func line(for outcome: SyncOutcome, now: Date) -> String {
        let (name, style, failure) = Self.parts(of: outcome.kind)
        let time = ItemLine.timestamp(now)
        if isJSON {
            let line = JSONObjectWriter.line([
                "time": time, "outcome": name, "collection": outcome.collection, "key": outcome.key.rawValue,
                "kind": outcome.key.kind.rawValue, "code": failure?.code, "message": failure?.message,
            ])
            return String(decoding: line, as: UTF8.self)
        }
        let columns = [
            console.styled(time, .dim), console.styled(name.padding(toLength: 9, withPad: " ", startingAt: 0), style),
            console.shown(outcome.collection), console.shown(outcome.key.rawValue),
        ]
        return (columns + (failure.map { [console.shown("\($0)")] } ?? [])).joined(separator: "  ") + "\n"
    }

    private static func parts(of kind: SyncOutcome.Kind) -> (name: String, style: TextStyle, failure: SyncFailure?) {
        switch kind {
        case .accepted: ("accepted", .green, nil)
        case .merged: ("merged", .yellow, nil)
        case .refused(let failure): ("refused", .red, failure)
        case .discarded: ("discarded", .yellow, nil)
        }
    }
}
