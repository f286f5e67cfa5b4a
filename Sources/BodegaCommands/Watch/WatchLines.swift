import Bodega
import Foundation
import RecordCoder

/// The format in which changes are shown.
struct WatchLines: Sendable {
    /// Whether a line is a JSON object.
    let isJSON: Bool
    /// The console that shows the lines.
    let console: Console

    /// The line for a change.
    func line(for event: StoreWatchEvent) -> String {
        let time = ItemLine.timestamp(event.date)
        if isJSON {
            let line = JSONObjectWriter.line([
                "time": time, "change": event.change.rawValue, "key": event.key.rawValue,
                "kind": event.key.kind.rawValue,
            ])
            return String(decoding: line, as: UTF8.self)
        }
        let style: TextStyle =
            switch event.change {
            case .inserted: .green
            case .updated: .yellow
            case .removed: .red
            }
        let change = event.change.rawValue.padding(toLength: 8, withPad: " ", startingAt: 0)
        return "\(console.styled(time, .dim))  \(console.styled(change, style))  \(console.shown(event.key.rawValue))\n"
    }
}
