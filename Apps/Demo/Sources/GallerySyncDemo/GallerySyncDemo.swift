import ArgumentParser
import Bodega
import Foundation
import Gallery
import GalleryCommand
import GallerySync

/// The program with `--sync` of `bin/demo`: two galleries, the server between them, and the picture API.
@main
struct GallerySyncDemo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gallery-sync-demo",
        abstract: "Two live, offline-first galleries on Emporium, a laptop and a phone, that synchronize.",
        discussion: """
            Serves two pages on 127.0.0.1 until it gets SIGINT (Ctrl-C) or SIGTERM, and then exits with status 0. \
            Every user of this machine can open the pages; other machines cannot.

            Each gallery has its own address and its own folder in that of --data: laptop/ and phone/. It contains the \
            favourites, their pictures and the albums in gallery.sqlite3 and the session in secrets/. The preferences \
            are in the user defaults. The port of the phone is after that of the laptop.

            The galleries synchronize their favourites and albums through a server, whose database is in server/. The \
            server listens on 127.0.0.1, and only these two have tokens for it.
            """
    )

    @OptionGroup var options: GalleryOptions

    private static let devices = ["laptop", "phone"]

    func validate() throws { try options.checkPort(galleries: Self.devices.count) }

    func run() async throws {
        trustThisMachine()
        let server = try await SyncServer(directory: options.directory.appending("server"), logger: options.logger)
        var storages: [GalleryStorage] = []
        for device in Self.devices {
            let connection = server.connection(of: device)
            let storage = try await options.storage(in: options.directory.appending(device)) {
                try await GalleryStorage(directory: $0, device: device, server: connection)
            }
            storages.append(storage)
        }
        try await server.setOnline(true)
        try await options.serve(storages, of: Self.devices, with: [server])
    }
}

/// Excludes this machine from the proxies of the environment, which the client of the server would use otherwise.
private func trustThisMachine() {
    let environment = ProcessInfo.processInfo.environment
    let others = [environment["no_proxy"], environment["NO_PROXY"]].compactMap(\.self).filter { !$0.isEmpty }
    setenv("no_proxy", (others + ["127.0.0.1"]).joined(separator: ","), 1)
}
