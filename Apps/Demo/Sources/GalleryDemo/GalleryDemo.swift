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

            With --sync, there are two galleries, each with its own address and its own folder in that of --data: \
            laptop/ and phone/. They synchronize their favourites and albums through a server, whose database is in \
            server/. The server listens on 127.0.0.1, and only these two have tokens for it.
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

    @Flag(help: "Start two galleries, a laptop and a phone, that synchronize through a server.")
    var sync = false

    @Option(help: "Makes the API draw the same pictures in the same order each time.")
    var seed: UInt64?

    // Tests may be slow, so they let messages stay longer.
    @Option(help: ArgumentHelp("How long a message stays, in seconds.", visibility: .private))
    var noticeSeconds = 8

    @Flag(help: "Log debug messages.")
    var verbose = false

    func validate() throws {
        // The phone gets the port after that of the laptop.
        let limit = sync ? 65_534 : 65_535
        guard (0...limit).contains(port) else { throw ValidationError("The port must be from 0 to \(limit).") }
        guard (1...1_000_000).contains(noticeSeconds) else {
            throw ValidationError("The time of a message must be from 1 to 1000000 seconds.")
        }
        if let data, data.isEmpty { throw ValidationError("The folder must have a name.") }
    }

    func run() async throws {
        var logger = Logger(label: "gallery") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = verbose ? .debug : .warning
        let directory = folder()
        var services: [any Service] = []
        var storages: [GalleryStorage] = []
        if sync {
            trustThisMachine()
            let server = try await SyncServer(directory: directory.appending("server"), logger: logger)
            for device in Self.devices {
                let folder = directory.appending(device)
                try await open(folder) {
                    storages.append(try await GalleryStorage(directory: folder, device: device, server: server))
                }
            }
            try await server.setOnline(true)
            services.append(server)
        } else {
            try await open(directory) { storages.append(try GalleryStorage(directory: directory)) }
        }
        let api = try PictureAPIServer(directory: directory.appending("api"), seed: seed, logger: logger)
        try await api.setOnline(true)
        services.append(api)

        let announcement = Announcement(of: sync ? Self.devices : [], wanted: port)
        for (number, storage) in storages.enumerated() {
            services.append(
                try await GalleryServer(
                    storage: storage,
                    connection: PictureAPIConnection(
                        address: { await api.address },
                        isOn: { await api.isOnline },
                        setOn: { try await api.setOnline($0) }
                    ),
                    noticeTime: .seconds(noticeSeconds),
                    port: port == 0 ? 0 : port + number,
                    logger: logger,
                    onListening: { port in announcement.add(port, of: number) }
                ))
        }
        // The galleries end first, as they need the others.
        var configuration = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigint, .sigterm], logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(5)
        try await ServiceGroup(configuration: configuration).run()
    }

    /// The names of the devices with `--sync`.
    private static let devices = ["laptop", "phone"]

    /// Opens the storage in a folder.
    private func open(_ folder: FileManager.Directory, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as StorageError where error.code == .locked {
            throw ValidationError(
                "Another gallery is using \(folder.url.path). Stop it, or choose another folder with --data.")
        }
    }

    private func folder() -> FileManager.Directory {
        guard let data else { return .applicationSupport(appendingPath: "emporium-gallery") }
        return FileManager.Directory(url: URL(fileURLWithPath: data, isDirectory: true))
    }
}

/// Excludes this machine from the proxies of the environment, which the client of the server would use otherwise.
private func trustThisMachine() {
    let environment = ProcessInfo.processInfo.environment
    let others = [environment["no_proxy"], environment["NO_PROXY"]].compactMap(\.self).filter { !$0.isEmpty }
    setenv("no_proxy", (others + ["127.0.0.1"]).joined(separator: ","), 1)
}
