package import Hummingbird

/// Refuses requests for other hosts than this machine.
///
/// A web site can let its own name point to 127.0.0.1, and then read our answers as if they were its own: DNS rebinding. But
/// the browser still says which name it has asked for.
package struct HostGuard<Context: RequestContext>: RouterMiddleware {
    /// Creates a guard.
    package init() {}

    /// Lets requests for this machine pass.
    ///
    /// - Throws: 421 for others.
    package func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard isThisMachine(request.head.authority) else { throw HTTPError(.misdirectedRequest) }
        return try await next(request, context)
    }
}

/// Tells whether a host, with or without a port, is this machine.
package func isThisMachine(_ authority: String?) -> Bool {
    guard let authority else { return false }
    return ["127.0.0.1", "localhost", "[::1]"].contains { host in
        guard authority.lowercased().hasPrefix(host) else { return false }
        let rest = authority.dropFirst(host.count)
        return rest.isEmpty || (rest.first == ":" && rest.dropFirst().allSatisfy { $0.isASCII && $0.isNumber })
    }
}
