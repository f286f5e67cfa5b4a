import Hummingbird

/// Refuses requests for other hosts than this machine.
///
/// A web site can let its own name point to 127.0.0.1, and then read our pages as if they were its own: DNS rebinding. But
/// the browser still says which name it has asked for.
struct HostGuard: RouterMiddleware {
    typealias Context = GalleryRequestContext

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard Self.isThisMachine(request.head.authority) else { throw HTTPError(.misdirectedRequest) }
        return try await next(request, context)
    }

    /// Tells whether a host, with or without a port, is this machine.
    static func isThisMachine(_ authority: String?) -> Bool {
        guard let authority else { return false }
        return ["127.0.0.1", "localhost", "[::1]"].contains { host in
            guard authority.lowercased().hasPrefix(host) else { return false }
            let rest = authority.dropFirst(host.count)
            return rest.isEmpty || (rest.first == ":" && rest.dropFirst().allSatisfy { $0.isASCII && $0.isNumber })
        }
    }
}
