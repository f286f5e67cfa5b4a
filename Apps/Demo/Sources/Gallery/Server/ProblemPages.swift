import Hummingbird
import Logging

/// Turns errors into pages that explain the error and link to the gallery.
struct ProblemPages: RouterMiddleware {
    typealias Context = GalleryRequestContext

    let pages: Pages

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError {
            return await pages.problem(error.status, headers: error.headers)
        } catch let error as any HTTPResponseError {
            return await pages.problem(error.status)
        } catch {
            context.logger.error(
                "A request failed.", metadata: ["error": "\(error)", "path": "\(request.uri.path)"])
            return await pages.problem(.internalServerError)
        }
    }
}
