#if Server
import HTTPTypes
import Hummingbird

/// Counts the requests to a router and their answers.
struct RequestMeter<Context: RequestContext>: RouterMiddleware {
    let metrics: StorageServerMetrics

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let (start, method) = (ContinuousClock.now, request.method.label)
        let end: @Sendable (HTTPResponse.Status) -> Void = { [metrics] status in
            let route = StorageServerMetrics.Route(path: context.endpointPath ?? "other", method: method)
            metrics.answered(route, status: status.code, time: ContinuousClock.now - start)
        }
        do {
            var response = try await next(request, context)
            let (status, body) = (response.status, response.body)
            response.body = ResponseBody(contentLength: body.contentLength) { writer in
                defer { end(status) }
                try await body.write(writer)
            }
            return response
        } catch {
            end((error as? any HTTPResponseError)?.status ?? .internalServerError)
            throw error
        }
    }
}

extension HTTPRequest.Method {
    /// The method as a label. A client can send any text as one.
    fileprivate var label: String {
        let known = ["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUERY"]
        return known.contains(rawValue) ? rawValue : "other"
    }
}
#endif
