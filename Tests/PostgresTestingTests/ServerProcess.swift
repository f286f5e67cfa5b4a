#if Postgres
import Foundation
import PostgresTesting
import TestSupport

/// A process that has started a server.
struct ServerProcess {
    /// What it says about the server.
    struct Place: Decodable {
        let url: String
        let socketFolder: String
    }

    private let child: Child

    init() throws {
        child = try Child([], program: "ThrowawayPostgres", input: Pipe())
    }

    /// Waits until the server runs.
    func place() async throws -> Place {
        guard let line = await child.nextLine() else { throw CocoaError(.fileReadUnknown) }
        return try JSONDecoder().decode(Place.self, from: Data(line.utf8))
    }

    /// Ends the process with a signal.
    func end(with signal: Int32) {
        child.send(signal)
    }
}
#endif
