import ArgumentParser
import Bodega
import Foundation
import Gallery
import Logging
import PictureAPI
import ServiceLifecycle
import UnixSignals

/// The program: the gallery and the picture API.
@main
struct GalleryDemo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gallery-demo",
        abstract: "A live, offline-first gallery on Emporium.",
        discussion: """
            Serves a page on 127.0.0.1 until it gets SIGINT (Ctrl-C) or SIGTERM, and then exits with status 0. Every \
            user of this machine can open the page; other machines cannot.

            The folder of --data contains the favourites, their pictures and the albums in gallery.sqlite3 and the \
            session in secrets/. The preferences are in the user defaults.
            """
    )

    @Option(help: "The port to listen on. If it is taken, the next free one is used. 0 for any port.")
    var port = 8080

    @Option(
        help: ArgumentHelp(
            "The folder for all data. (default: emporium-gallery in the user's data folder)",
            valueName: "folder"),
        completion: .directory
    )
    var data: String?

    @Option(help: "Makes the API draw the same pictures in the same order each time.")
    var seed: UInt64?

    // Tests may be slow, so they let messages stay longer.
    @Option(help: ArgumentHelp("How long a message stays, in seconds.", visibility: .private))
    var noticeSeconds = 8

    @Flag(help: "Log debug messages.")
    var verbose = false

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("The port must be from 0 to 65535.") }
        guard (1...1_000_000).contains(noticeSeconds) else {
            throw ValidationError("The time of a message must be from 1 to 1000000 seconds.")
        }
        if let data, data.isEmpty { throw ValidationError("The folder must have a name.") }
    }

    func run() async throws {
        var logger = Logger(label: "gallery") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = verbose ? .debug : .warning
        let directory = folder()
        let storage: GalleryStorage
        do {
            storage = try GalleryStorage(directory: directory)
        } catch let error as StorageError where error.code == .locked {
            throw ValidationError(
                "Another gallery is using \(directory.url.path). Stop it, or choose another folder with --data.")
        }
        let api = try PictureAPIServer(directory: directory.appending("api"), seed: seed, logger: logger)
        try await api.setOnline(true)

        let wanted = port
        let gallery = try await GalleryServer(
            storage: storage,
            connection: PictureAPIConnection(
                address: { await api.address },
                isOn: { await api.isOnline },
                setOn: { try await api.setOnline($0) }
            ),
            noticeTime: .seconds(noticeSeconds),
            port: port,
            logger: logger,
            onListening: { port in announce(port, instead: wanted) }
        )
        // The gallery ends first, as it needs the API.
        var configuration = ServiceGroupConfiguration(
            services: [api, gallery], gracefulShutdownSignals: [.sigint, .sigterm], logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(5)
        try await ServiceGroup(configuration: configuration).run()
    }

    private func folder() -> FileManager.Directory {
        guard let data else { return .applicationSupport(appendingPath: "emporium-gallery") }
        return FileManager.Directory(url: URL(fileURLWithPath: data, isDirectory: true))
    }
}

/// Prints the gallery's address without buffering, so that it also appears in a pipe immediately.
private func announce(_ port: Int, instead wanted: Int) {
    var text = ""
    if wanted != 0 && wanted != port { text += "Port \(wanted) is taken, so the gallery uses another one.\n" }
    text += "The gallery is at http://127.0.0.1:\(port)/ — press Ctrl-C to stop it.\n"
    FileHandle.standardOutput.write(Data(text.utf8))
}
