import HTTPTypes
package import Hummingbird

/// Refuses changes that the pages of other websites request.
///
/// Another website can send a form to this server without the user noticing: cross-site request forgery. Browsers state
/// the origin of a request in `Sec-Fetch-Site`, or, if they are older, in `Origin`.
package struct OriginGuard<Context: RequestContext>: RouterMiddleware {

    private let allowsPrograms: Bool

    /// Creates a guard.
    ///
    /// - Parameter allowsPrograms: Whether requests without these headers, as programs send them, may make changes.
    package init(allowsPrograms: Bool) {
        self.allowsPrograms = allowsPrograms
    }

    /// Passes on requests that make no changes, and those of an allowed origin.
    ///
    /// - Throws: 403 for other requests.
    package func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let isSafe = [.get, .head].contains(request.method)
        guard isSafe || hasAllowedOrigin(request) else { throw HTTPError(.forbidden) }
        return try await next(request, context)
    }

    private func hasAllowedOrigin(_ request: Request) -> Bool {
        let site = request.headers[.secFetchSite]
        let origin = request.headers[.origin]
        if site == nil && origin == nil { return allowsPrograms }
        // Another port of this machine is the same site, but not the same origin.
        if let site, site != "same-origin" { return false }
        if let origin, origin != "http://\(request.head.authority ?? "")" { return false }
        return true
    }
}

extension HTTPField.Name {
    /// The relation between the origins of the request and of the server, as the browser determines it.
    package static let secFetchSite: Self = {
        guard let name = Self("Sec-Fetch-Site") else { preconditionFailure("Sec-Fetch-Site is a valid header name.") }
        return name
    }()
}
