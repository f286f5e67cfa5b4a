import HTTPTypes
import Hummingbird

/// Adds the headers that make browsers restrict the pages.
struct SecurityHeaders: RouterMiddleware {
    typealias Context = GalleryRequestContext

    /// All resources come from the gallery, and pages contain no inline scripts or styles.
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
        // A route may set a stricter policy, or mark its response as immutable.
        for (name, value) in defaults where response.headers[name] == nil { response.headers[name] = value }
        return response
    }
}

extension HTTPField.Name {
    fileprivate static func named(_ name: String) -> Self {
        guard let name = Self(name) else { preconditionFailure("\(name) is not a valid header name.") }
        return name
    }

    static let referrerPolicy = named("Referrer-Policy")
    static let crossOriginOpenerPolicy = named("Cross-Origin-Opener-Policy")
    static let prefer = named("Prefer")
    static let preferenceApplied = named("Preference-Applied")
}
