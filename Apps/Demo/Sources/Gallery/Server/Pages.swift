import Bodega
import Foundation
import HTTPTypes
import Hummingbird

/// The responses to GET requests: pages, images, and the files of the pages.
struct Pages: Sendable {
    let controllers: GalleryControllers
    let templates: Templates

    /// The home page.
    func home() async -> Response {
        let apiIsOn = await controllers.connection.isOn()
        return html(await HomePage(controllers, apiIsOn: apiIsOn))
    }

    /// The page of one favourite.
    ///
    /// - Throws: 404 if there is no such favourite.
    func favourite(_ id: String) async throws -> Response {
        let apiIsOn = await controllers.connection.isOn()
        guard Picture.isValidID(id), let page = await DetailPage(id: id, controllers, apiIsOn: apiIsOn) else {
            throw HTTPError(.notFound)
        }
        return html(page)
    }

    /// The page of an album.
    ///
    /// - Throws: 404 if there is no such album.
    func album(_ id: String) async throws -> Response {
        let apiIsOn = await controllers.connection.isOn()
        guard let page = await AlbumPage(id: id, controllers, apiIsOn: apiIsOn) else { throw HTTPError(.notFound) }
        return html(page)
    }

    /// The page of the archive. The first visit begins to fill the archive.
    ///
    /// - Throws: An error of the storage.
    func archive(_ search: ArchiveSearch) async throws -> Response {
        let archive = controllers.archive
        await archive.open()
        let apiIsOn = await controllers.connection.isOn()
        guard case .filled = await archive.state else {
            let summary = await ArchiveSummary(filling: archive)
            return html(await ArchivePage(search, [], summary, controllers, apiIsOn: apiIsOn))
        }
        let page = try await archive.pictures.fetch(search.query, limit: search.shown, omittingUndecodable: true)
        let count = try await archive.pictures.count(search.query, omittingUndecodable: true)
        let summary = ArchiveSummary(search, count: count, shown: page.objects.count)
        return html(await ArchivePage(search, page.objects, summary, controllers, apiIsOn: apiIsOn))
    }

    /// The page with what the user of a synchronized gallery has to decide.
    ///
    /// - Throws: 404 if the gallery is not synchronized.
    func conflicts() async throws -> Response {
        let apiIsOn = await controllers.connection.isOn()
        guard let sync = controllers.sync else { throw HTTPError(.notFound) }
        return html(await ConflictsPage(sync, controllers, apiIsOn: apiIsOn))
    }

    /// The page that explains an error.
    func problem(_ status: HTTPResponse.Status, headers: HTTPFields = [:]) async -> Response {
        let apiIsOn = await controllers.connection.isOn()
        let page = await ProblemPage(status: status.code, controllers, apiIsOn: apiIsOn)
        return html(page, status, headers)
    }

    private func html(
        _ page: some Page,
        _ status: HTTPResponse.Status = .ok,
        _ headers: HTTPFields = [:]
    ) -> Response {
        var headers = headers
        headers[.contentType] = "text/html; charset=utf-8"
        let body = ResponseBody(byteBuffer: ByteBuffer(string: templates.render(page)))
        return Response(status: status, headers: headers, body: body)
    }

    // MARK: Images

    /// The bytes of an image.
    ///
    /// The bytes come from the API. Shown as an image, an SVG document runs no scripts. Opened as a document, the
    /// policy makes it a sandbox without scripts and with an opaque origin.
    ///
    /// If the image of a favourite has not been received from another device yet, the response is a placeholder, which
    /// is 4 pixels wide, so that the page's script can recognize it.
    ///
    /// - Throws: 404 if there is no such image, or an error of the storage.
    func image(_ key: String) async throws -> Response {
        guard let key = ImageKey(key) else { throw HTTPError(.notFound) }
        if let data = try await controllers.images.data(key) {
            // The bytes of a key never change.
            return image(data, cacheControl: "private, max-age=31536000, immutable")
        }
        guard await controllers.isExpecting(key) else { throw HTTPError(.notFound) }
        let placeholder = try Data(contentsOf: WebFiles.folder("Assets").appendingPathComponent("placeholder.svg"))
        return image(placeholder, cacheControl: "no-store")
    }

    private func image(_ data: Data, cacheControl: String) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "image/svg+xml",
                .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'; sandbox",
                .cacheControl: cacheControl,
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: data))
        )
    }

    // MARK: Files

    /// The names of all files. No other name reaches the file system, so a path cannot lead elsewhere.
    private static let types = [
        "gallery.css": "text/css; charset=utf-8",
        "gallery.js": "text/javascript; charset=utf-8",
        "icon.svg": "image/svg+xml",
    ]

    /// A file of the pages.
    ///
    /// - Throws: 404 if there is no such file.
    func asset(_ name: String) throws -> Response {
        guard let type = Self.types[name] else { throw HTTPError(.notFound) }
        let data = try Data(contentsOf: WebFiles.folder("Assets").appendingPathComponent(name))
        return Response(
            status: .ok,
            headers: [.contentType: type, .cacheControl: "no-cache"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: data))
        )
    }
}
