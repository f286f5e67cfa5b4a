import Bodega
import BodegaTesting

extension DefectiveStorageEngine {

    /// Points at which the tasks that trigger a concurrency defect wait for each other, so that the defect doesn't
    /// depend on scheduling.
    struct Meetings {
        /// The gate at which the first writer waits for a second one.
        var firstWriter: StorageGate?
        /// Opens when the last writer has ended.
        var lastWriter: StorageGate?
        /// The gate at which a writer waits for a reader in the middle of its work.
        var halfDone: StorageGate?
    }
}

extension DefectiveStorageEngine.Storage {

    /// The first writer waits here until there is a second one; all others pass.
    func meetAnotherWriter() async throws {
        let gate = StorageGate()
        let first = state.withLock { state in
            defer { state.meetings.firstWriter = state.meetings.firstWriter ?? gate }
            return state.meetings.firstWriter
        }
        if let first { first.release() } else { try await gate.pass() }
    }

    /// Runs a closure after those of all earlier writers have ended.
    func afterOtherWriters(_ body: () async throws -> Void) async throws {
        let ended = StorageGate()
        defer { ended.release() }
        let previous = state.withLock { state in
            defer { state.meetings.lastWriter = ended }
            return state.meetings.lastWriter
        }
        try await previous?.pass()
        try await body()
    }

    /// Waits until a reader has begun and ended a read.
    func meetReader() async throws {
        let gate = StorageGate()
        state.withLock { $0.meetings.halfDone = gate }
        defer { state.withLock { $0.meetings.halfDone = nil } }
        try await gate.pass()
    }
}
