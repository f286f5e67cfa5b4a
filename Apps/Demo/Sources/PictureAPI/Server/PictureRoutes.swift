import Hummingbird
import LocalServer

/// The routes of the API.
///
///     GET    /v1/status             204
///     GET    /v1/pictures/random    a picture's description as JSON
///     GET    /v1/pictures/ID.svg    the picture
///     POST   /v1/sessions           signs in with a name and a password, for a token
///     DELETE /v1/sessions           signs out
///
/// A token is sent as `Authorization: Bearer TOKEN`. Only programs get responses: pages of websites can neither sign in
/// nor sign out, nor can pages that reach this machine under another name.
struct PictureRoutes {
    let chooser: Chooser
    let members: Members

    /// The router with all routes.
    var router: Router<BasicRequestContext> {
        let router = Router()
        router.add(middleware: HostGuard())
        router.add(middleware: OriginGuard(allowsPrograms: true))
        let api = router.group("v1")
        api.get("status") { _, _ in HTTPResponse.Status.noContent }
        api.get("pictures/random") { request, _ in try await random(request) }
        api.get("pictures/{file}") { request, context in try await picture(request, context) }
        api.post("sessions") { request, context in try await signIn(request, context) }
        api.delete("sessions") { request, _ in try await signOut(request) }
        return router
    }

    private func random(_ request: Request) async throws -> ArtworkDescription {
        let id = await chooser.next(isMember: try await isMember(request))
        guard let artwork = Artwork(id) else { throw HTTPError(.internalServerError) }
        return ArtworkDescription(artwork)
    }

    private func picture(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        let file = try context.parameters.require("file")
        guard file.hasSuffix(".svg"), let id = Artwork.ID(file.dropLast(4)), let artwork = Artwork(id) else {
            throw HTTPError(.notFound, message: "There is no such picture.")
        }
        if artwork.style.isForMembers, try await !isMember(request) {
            throw HTTPError(.forbidden, message: "This picture is for members.")
        }
        return Response(
            status: .ok,
            headers: [.contentType: "image/svg+xml; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: artwork.canvas.svg))
        )
    }

    // MARK: Members

    private struct Credentials: Decodable {
        let name: String
        let password: String
    }

    private struct Welcome: ResponseEncodable {
        let name: String
        let token: String
    }

    private func signIn(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        // A website can send text and forms across origins without permission, but not JSON.
        let type = request.headers[.contentType].flatMap { MediaType(from: $0) }
        guard type?.isType(.applicationJson) == true else { throw HTTPError(.unsupportedMediaType) }
        let credentials = try await request.decode(as: Credentials.self, context: context)
        let name = credentials.name
        guard (1...40).contains(name.count), name.utf8.count <= 200 else {
            throw HTTPError(.badRequest, message: "A name must have 1 to 40 characters and at most 200 bytes.")
        }
        let token = try await members.signIn(name: name, password: credentials.password)
        guard let token else { throw HTTPError(.unauthorized, message: "The password is wrong.") }
        var response = try Welcome(name: name, token: token).response(from: request, context: context)
        response.status = .created
        response.headers[.cacheControl] = "no-store"
        return response
    }

    private func signOut(_ request: Request) async throws -> HTTPResponse.Status {
        if let token = token(of: request) { try await members.signOut(token) }
        return .noContent
    }

    /// Whether a request comes from a member.
    ///
    /// - Throws: 401 for an invalid token, so that the client learns that it must sign in again.
    private func isMember(_ request: Request) async throws -> Bool {
        guard let token = token(of: request) else { return false }
        guard try await members.isSignedIn(token) else {
            throw HTTPError(.unauthorized, message: "The token is not valid.")
        }
        return true
    }

    private func token(of request: Request) -> String? {
        guard let value = request.headers[.authorization], value.hasPrefix("Bearer ") else { return nil }
        return String(value.dropFirst("Bearer ".count))
    }
}
