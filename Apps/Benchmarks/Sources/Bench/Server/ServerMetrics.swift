import BenchHarness
import Bodega
import Foundation

/// The metrics of `bench --server`: a server in a child process, and clients in this one.
enum ServerMetrics {
    static let all: [Metric] = requests + streams + transfers

    /// The number of clients that send requests simultaneously.
    static let clients = 64

    /// Calls a closure with the address of a server whose collection has some items.
    static func withServer<Result>(
        _ plan: Plan, items: Int, _ kind: ServingChild.Kind = .storage,
        _ work: (ServingChild, SQLiteStorageEngine) async throws -> Result
    ) async throws -> Result {
        try OpenFiles.raiseLimit()
        return try await plan.scratch.withFolder { folder in
            let notes = try SQLiteStorageEngine(openingFile: folder.appendingPathComponent("data.sqlite3"))
                .collection(named: "notes")
            try await ServedNotes.fill(notes, items)
            let child = try ServingChild(kind, folder)
            defer { child.end() }
            return try await work(child, notes)
        }
    }

    /// The path of an item on the server.
    static func path(_ number: Int) -> String { "/v1/collections/notes/items/\(ServedNotes.name(number))" }
}
