import HTTPTypes
import Hummingbird

// The router answers 404 if a path is known but not for the request's method. Here such a request gets 405, and is told what
// the path is for.

extension Router<GalleryRequestContext> {
    typealias PageHandler = @Sendable (Request, Context) async throws -> Response
    typealias ActionHandler = @Sendable (Request, Context) async throws -> Void

    /// Adds a path to look at.
    func page(_ path: RouterPath, _ handler: @escaping PageHandler) {
        get(path, use: handler)
        refuseOthers(path, allowed: [.get, .head])
    }

    /// Adds a path that does something.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - leavesPage: Whether the page that it was done on may be gone then.
    ///   - handler: Does it.
    func action(_ path: RouterPath, leavesPage: Bool = false, _ handler: @escaping ActionHandler) {
        post(path) { request, context in
            try await perform(handler, request, context, then: leavesPage ? "/" : returnPath(of: request))
        }
        refuseOthers(path, allowed: [.post])
    }

    /// Adds a path to look at, that also does something.
    func pageAndAction(_ path: RouterPath, page: @escaping PageHandler, action: @escaping ActionHandler) {
        get(path, use: page)
        post(path) { request, context in try await perform(action, request, context, then: returnPath(of: request)) }
        refuseOthers(path, allowed: [.get, .head, .post])
    }

    private func refuseOthers(_ path: RouterPath, allowed: [HTTPRequest.Method]) {
        let known: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]
        let list = allowed.map(\.rawValue).joined(separator: ", ")
        for method in known where !allowed.contains(method) {
            on(path, method: method) { _, _ -> Response in
                throw HTTPError(.methodNotAllowed, headers: [.allow: list])
            }
        }
    }
}

/// Does what was asked for. What came of it is on the pages, so the answer leads to one.
private func perform(
    _ handler: (Request, GalleryRequestContext) async throws -> Void,
    _ request: Request,
    _ context: GalleryRequestContext,
    then page: String
) async throws -> Response {
    if let type = request.headers[.contentType], !type.hasPrefix("application/x-www-form-urlencoded") {
        throw HTTPError(.unsupportedMediaType)
    }
    try await handler(request, context)
    if request.headers[.prefer] == "return=minimal" {
        return Response(status: .noContent, headers: [.preferenceApplied: "return=minimal"])
    }
    return .redirect(to: page)
}

/// The page that a form was on, which the browser tells; the home page if it does not.
private func returnPath(of request: Request) -> String {
    let prefix = "http://\(request.head.authority ?? "")/"
    guard let referrer = request.headers[.referer], referrer.hasPrefix(prefix) else { return "/" }
    let path = referrer.dropFirst(prefix.count)
    // Only paths of pages, so that nothing else can get into the header.
    let favourites = "favourites/"
    let isFavourite = path.hasPrefix(favourites) && Picture.isValidID(path.dropFirst(favourites.count))
    return isFavourite ? "/\(path)" : "/"
}
