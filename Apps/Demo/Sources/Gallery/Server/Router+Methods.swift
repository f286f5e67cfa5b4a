import HTTPTypes
import Hummingbird
import HummingbirdCore

// The router responds with 404 if a path exists but not for the request's method. These extensions make it respond with
// 405 and the allowed methods.

extension Router<GalleryRequestContext> {
    typealias PageHandler = @Sendable (Request, Context) async throws -> Response
    typealias ActionHandler = @Sendable (Request, Context) async throws -> Void

    /// Adds a page.
    func page(_ path: RouterPath, _ handler: @escaping PageHandler) {
        get(path, use: handler)
        refuseOthers(path, allowed: [.get, .head])
    }

    /// Adds an action.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - leavesPage: Whether the page that contained the form may not exist after the action.
    ///   - handler: Performs the action.
    func action(_ path: RouterPath, leavesPage: Bool = false, _ handler: @escaping ActionHandler) {
        post(path) { request, context in
            try await perform(handler, request, context, then: leavesPage ? "/" : returnPath(of: request))
        }
        refuseOthers(path, allowed: [.post])
    }

    /// Adds a path that is a page for GET and an action for POST.
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

/// Performs an action. Its outcome is shown on the pages, so the response is a redirect to one.
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

/// The page that contained the form, from the `Referer` header; the home page if there is none.
private func returnPath(of request: Request) -> String {
    let prefix = "http://\(request.head.authority ?? "")/"
    guard let referrer = request.headers[.referer], referrer.hasPrefix(prefix) else { return "/" }
    let path = referrer.dropFirst(prefix.count)
    // The search is parsed, and written again.
    if path == "archive" || path.hasPrefix("archive?") { return ArchiveSearch(URI("/\(path)")).path }
    if path == "conflicts" { return "/conflicts" }
    // Only known paths, so that no other text gets into the header.
    let isItem = ["favourites/", "albums/"].contains { folder in
        path.hasPrefix(folder) && Picture.isValidID(path.dropFirst(folder.count))
    }
    return isItem ? "/\(path)" : "/"
}
