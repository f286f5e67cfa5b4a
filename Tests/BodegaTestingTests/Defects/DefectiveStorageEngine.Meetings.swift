import Bodega
import BodegaTesting

extension DefectiveStorageEngine {

    /// Where the tasks that a concurrent defect needs wait for each other, so that no scheduler can keep them apart.
    struct Meetings {
        /// Where the first writer waits for a second, once there is one.
        var firstWriter: StorageGate?
        /// Opens when the writer that came last is done.
        var lastWriter: StorageGate?
        /// Where a writer waits, its work half done, for a reader.
        var halfDone: StorageGate?
    }
}

extension DefectiveStorageEngine.Medium {

    /// The first writer waits here until there is a second; all others pass.
    func meetAnotherWriter() async throws {
        let gate = StorageGate()
        let first = state.withLock { state in
            defer { state.meetings.firstWriter = state.meetings.firstWriter ?? gate }
            return state.meetings.firstWriter
        }
        if let first { first.release() } else { try await gate.pass() }
    }

    /// Runs a closure when those of all writers that came earlier have ended.
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

    /// Waits until a reader has begun to read and has ended.
    func meetReader() async throws {
        let gate = StorageGate()
        state.withLock { $0.meetings.halfDone = gate }
        defer { state.withLock { $0.meetings.halfDone = nil } }
        try await gate.pass()
    }
}
