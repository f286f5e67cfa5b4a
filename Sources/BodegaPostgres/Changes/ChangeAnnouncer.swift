#if Postgres
import Bodega
import Logging

/// Tells those who listen that a collection has changed, after the change was committed.
///
/// A notification that is part of the transaction would need no second statement, but the server lets only one such
/// transaction commit at a time, so that writers would wait for each other's disks. This one costs them nothing, and
/// there is at most one under way: those that come up meanwhile are one. If the program ends before it is sent,
/// listeners find the change when they next look, see ``ChangeListener``.
final class ChangeAnnouncer: Sendable {

    static let channel = "emporium_changes"

    private struct State {
        var collections: Set<Int32> = []
        var isSending = false
    }

    private let lanes: LaneGroup
    private let timeout: Double
    private let state = Locked(State())

    init(lanes: LaneGroup, timeout: Double) {
        self.lanes = lanes
        self.timeout = timeout
    }

    func announce(changeOf collection: Int32) {
        let mustSend = state.withLock { state in
            state.collections.insert(collection)
            defer { state.isSending = true }
            return !state.isSending
        }
        if mustSend { Task { await sendAll() } }
    }

    private func sendAll() async {
        while let collections = next() {
            var parameters = Parameters()
            parameters.appendArray(of: .int8, collections) { $0.append(Int64($1)) }
            let command = Command(Self.statement, parameters)
            do {
                _ = try await lanes.next().run(ReadLane.Read(command, until: .after(timeout)))
            } catch {
                bodegaLogger.debug("A change was not announced.", metadata: ["error": "\(error)"])
            }
        }
    }

    private func next() -> Set<Int32>? {
        state.withLock { state in
            if state.collections.isEmpty {
                state.isSending = false
                return nil
            }
            defer { state.collections = [] }
            return state.collections
        }
    }

    private static let statement = Statement(
        "emporium_announce",
        "SELECT count(pg_notify('\(channel)', c::text)) FROM unnest($1::bigint[]) AS c"
    )
}
#endif
