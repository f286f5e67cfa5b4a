// A web server on Bodega: notes as JSON, and a stream of their changes. Several processes can serve the same file.

import ArgumentParser
import Bodega
import Foundation
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals

@main
struct NotesServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "NotesServer",
        abstract: "Serves notes as JSON on 127.0.0.1 until it gets SIGTERM or SIGINT.",
        discussion: """
            GET /notes?contains=TEXT&limit=50&after=CURSOR  lists notes
            GET, PUT, DELETE /notes/ID                      reads, writes or removes a note: {"text": "Buy milk"}
            POST /notes/ID/likes                            adds a like
            GET /events                                     streams the changes, also those by other processes
            """
    )

    @Argument(help: "The folder for the notes; created if it is missing.", completion: .directory)
    var folder: String

    @Option(help: "The port to listen on; 0 for any free port.")
    var port = 8080

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("The port must be from 0 to 65535.") }
        guard !folder.isEmpty else { throw ValidationError("The folder must have a name.") }
    }

    func run() async throws {
        // Before anything logs. The standard output belongs to the program.
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        let logger = Logger(label: "notes")

        let engine = try SQLiteStorageEngine(opening: .init(url: URL(filePath: folder, directoryHint: .isDirectory)))
        let application = Application(
            router: NotesAPI(engine: engine).router(),
            server: .http1(configuration: .init(idleTimeout: .seconds(60))),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in
                let address = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)/"
                FileHandle.standardOutput.write(Data("Serving notes at \(address)\n".utf8))
            },
            logger: logger
        )

        // Services shut down in reverse order: first the server, when all requests are answered, then the storage.
        var services = ServiceGroupConfiguration(
            services: [Storage(engine: engine), application],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        // After this, clients that neither send the rest of a request nor read a response are disconnected.
        services.maximumGracefulShutdownDuration = .seconds(8)
        do {
            try await ServiceGroup(configuration: services).run()
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw Problem(description: "Port \(port) is taken. Choose another one with --port; 0 is any free one.")
        }
    }
}

/// Keeps an engine open while the services after it run, and closes it then.
struct Storage: Service {
    let engine: SQLiteStorageEngine

    func run() async throws {
        do {
            try await gracefulShutdown()
        } catch is CancellationError {
            // The server has failed, or did not shut down in time.
        }
        try await engine.close()
    }
}

struct Problem: Error, CustomStringConvertible {
    let description: String
}
