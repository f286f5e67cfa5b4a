import Bodega
import BodegaSync
import Foundation
import Testing

@testable import Gallery

/// What the pages show about the synchronization.
struct SyncViewTests {

    /// A state and what is shown about it.
    struct Case: Sendable {
        var waiting = 0
        var refused = 0
        let text: String
        let kind: SyncView.Kind
        var change: @Sendable (inout SyncStatus) -> Void = { _ in }
    }

    private static let cases: [Case] = [
        Case(text: "Everything is up to date", kind: .settled),
        Case(text: "Synchronizing…", kind: .waiting) { $0.lastSuccess = nil },
        Case(waiting: 1, text: "1 change waits", kind: .waiting) { $0.pending = 2 },
        Case(waiting: 3, text: "3 changes wait", kind: .waiting) { $0.pending = 6 },
        // An image waits, but not its favourite.
        Case(text: "Synchronizing…", kind: .waiting) { $0.pending = 1 },
        Case(text: "Switched off", kind: .paused) { $0.isPaused = true },
        Case(waiting: 2, refused: 1, text: "Switched off · 2 changes wait", kind: .paused) { $0.isPaused = true },
        Case(text: "Offline", kind: .offline) { $0.failure = SyncFailure(code: "unreachable", message: "") },
        Case(waiting: 1, text: "Offline · 1 change waits", kind: .offline) {
            $0.failure = SyncFailure(code: "unreachable", message: "")
        },
        Case(text: "The server refuses the token", kind: .refused) { $0.needsCredentials = true },
        Case(refused: 1, text: "1 change was refused", kind: .refused) { $0.parked = 1 },
        Case(waiting: 5, refused: 2, text: "2 changes were refused", kind: .refused) { $0.parked = 2 },
    ]

    @Test(arguments: cases)
    func `Each state has a text`(_ expected: Case) async throws {
        let database = MemoryStorageEngine()
        let open: @Sendable (String) -> MemoryStorageEngine = { database.collection(named: $0) }
        var status = try await StorageSync(local: open, remote: open).status
        (status.isPaused, status.lastSuccess) = (false, Date(timeIntervalSince1970: 0))
        expected.change(&status)
        let shown = SyncView.state(status, waiting: expected.waiting, refused: expected.refused)
        #expect(shown.text == expected.text)
        #expect(shown.kind == expected.kind)
    }
}
