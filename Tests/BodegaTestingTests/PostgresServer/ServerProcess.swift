#if Postgres
import Foundation
import TestSupport

/// A process that has started a server.
struct ServerProcess {
    /// The server's place, as the process prints it.
    struct Place: Decodable {
        let url: String
        let socketFolder: String
    }

    private let child: Child

    init() throws {
        child = try Child(["serve-postgres"], input: Pipe.separate())
    }

    /// Waits until the server is running.
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
