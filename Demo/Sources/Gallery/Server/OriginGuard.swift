import HTTPTypes
import Hummingbird

/// Lets only our own pages change something.
///
/// Another site can send forms to us, and the browser would show nothing of it: cross-site request forgery. Browsers say
/// where a request comes from: in `Sec-Fetch-Site`, older ones in `Origin`. What says neither is refused.
struct OriginGuard: RouterMiddleware {
    typealias Context = GalleryRequestContext

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let isSafe = [.get, .head].contains(request.method)
        guard isSafe || Self.isOurs(request) else { throw HTTPError(.forbidden) }
        return try await next(request, context)
    }

    private static func isOurs(_ request: Request) -> Bool {
        let site = request.headers[.secFetchSite]
        let origin = request.headers[.origin]
        if site == nil && origin == nil { return false }
        // Another port of this machine is the same site, but not the same origin.
        if let site, site != "same-origin" { return false }
        if let origin, origin != "http://\(request.head.authority ?? "")" { return false }
        return true
    }
}
