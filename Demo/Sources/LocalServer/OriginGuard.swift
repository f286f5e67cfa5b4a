import HTTPTypes
package import Hummingbird

/// Lets no page of others change something.
///
/// Another site can send forms to us, and the browser would show nothing of it: cross-site request forgery. Browsers say
/// where a request comes from: in `Sec-Fetch-Site`, older ones in `Origin`.
package struct OriginGuard<Context: RequestContext>: RouterMiddleware {

    /// Who else may change something.
    package enum Others: Sendable {
        /// Nobody: what says neither is refused, too.
        case nobody
        /// Programs, which say neither.
        case programs
    }

    private let others: Others

    /// Creates a guard.
    ///
    /// - Parameter others: Who may change something besides our own pages.
    package init(others: Others) {
        self.others = others
    }

    /// Lets requests pass that only look, and those that come from where they may.
    ///
    /// - Throws: 403 for others.
    package func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let isSafe = [.get, .head].contains(request.method)
        guard isSafe || isWelcome(request) else { throw HTTPError(.forbidden) }
        return try await next(request, context)
    }

    private func isWelcome(_ request: Request) -> Bool {
        let site = request.headers[.secFetchSite]
        let origin = request.headers[.origin]
        if site == nil && origin == nil { return others == .programs }
        // Another port of this machine is the same site, but not the same origin.
        if let site, site != "same-origin" { return false }
        if let origin, origin != "http://\(request.head.authority ?? "")" { return false }
        return true
    }
}

extension HTTPField.Name {
    /// Where a request comes from, as browsers see it.
    package static let secFetchSite: Self = {
        guard let name = Self("Sec-Fetch-Site") else { preconditionFailure("This is a name of a header.") }
        return name
    }()
}
