import HTTPTypes
import Hummingbird

/// Tells browsers to be strict with whatever we send.
struct SecurityHeaders: RouterMiddleware {
    typealias Context = GalleryRequestContext

    /// Everything comes from us, and nothing is written into the page: no inline script, no inline style.
    private static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
        "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        let defaults: [(HTTPField.Name, String)] = [
            (.contentSecurityPolicy, Self.policy),
            (.xContentTypeOptions, "nosniff"),
            (.referrerPolicy, "same-origin"),
            (.crossOriginOpenerPolicy, "same-origin"),
            (.crossOriginResourcePolicy, "same-origin"),
            (.cacheControl, "no-store"),
        ]
        // A route may have a stricter policy, or know that its answer never changes.
        for (name, value) in defaults where response.headers[name] == nil { response.headers[name] = value }
        return response
    }
}

extension HTTPField.Name {
    fileprivate static func named(_ name: String) -> Self {
        guard let name = Self(name) else { preconditionFailure("\(name) is no name of a header.") }
        return name
    }

    static let referrerPolicy = named("Referrer-Policy")
    static let crossOriginOpenerPolicy = named("Cross-Origin-Opener-Policy")
    static let prefer = named("Prefer")
    static let preferenceApplied = named("Preference-Applied")
}
