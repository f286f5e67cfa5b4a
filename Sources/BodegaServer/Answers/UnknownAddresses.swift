#if Server
import Hummingbird

/// Answers a request to an address without a route with a problem, as one to a route that has nothing.
struct UnknownAddresses<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            return RequestRefusal.notFound.response().answering(request)
        }
    }
}
#endif
