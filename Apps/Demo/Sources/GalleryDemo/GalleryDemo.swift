import ArgumentParser
import Gallery
import GalleryCommand

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

    @OptionGroup var options: GalleryOptions

    func validate() throws { try options.checkPort(galleries: 1) }

    func run() async throws {
        try await options.serve([options.storage(in: options.directory) { try GalleryStorage(directory: $0) }])
    }
}
