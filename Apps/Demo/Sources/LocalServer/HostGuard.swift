package import Hummingbird

/// Refuses requests for hosts other than this machine.
///
/// A website can make its own name resolve to 127.0.0.1, and then read the responses as its own: DNS rebinding. But the
/// browser still sends the requested name.
package struct HostGuard<Context: RequestContext>: RouterMiddleware {
    /// Creates a guard.
    package init() {}

    /// Passes on requests for this machine.
    ///
    /// - Throws: 421 for other hosts.
    package func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard isThisMachine(request.head.authority) else { throw HTTPError(.misdirectedRequest) }
        return try await next(request, context)
    }
}

/// Returns whether a host, with or without a port, is this machine.
package func isThisMachine(_ authority: String?) -> Bool {
    guard let authority else { return false }
    return ["127.0.0.1", "localhost", "[::1]"].contains { host in
        guard authority.lowercased().hasPrefix(host) else { return false }
        let rest = authority.dropFirst(host.count)
        return rest.isEmpty || (rest.first == ":" && rest.dropFirst().allSatisfy { $0.isASCII && $0.isNumber })
    }
}
