import Bodega
import HTTPTypes
import Hummingbird
import Logging

/// Answers requests for which the storage has failed. The error, which can contain paths, goes to the log.
struct StorageErrorMiddleware: RouterMiddleware {
    typealias Context = NotesContext

    func handle(
        _ request: Request, context: NotesContext, next: (Request, NotesContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as StorageError {
            let status = error.status
            context.logger.log(level: status.kind == .serverError ? .error : .debug, "\(error)")
            var response = try HTTPError(status, message: error.code.rawValue).response(from: request, context: context)
            if status == .serviceUnavailable { response.headers[.retryAfter] = "1" }
            return response
        }
    }
}

extension StorageError {
    /// The status of a response to a request that has failed with this error.
    var status: HTTPResponse.Status {
        switch code {
        case .invalidArgument: .badRequest
        case .tooLarge: .contentTooLarge
        case .storageFull: .init(code: 507, reasonPhrase: "Insufficient Storage")
        // Another attempt may succeed, soon or after an administrator has made the file writable.
        case .locked, .conflict, .timedOut, .unreachable, .closed, .readOnly, .placeRemoved: .serviceUnavailable
        default: .internalServerError
        }
    }
}
