#if Server
import Bodega
import BodegaMessages
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import RecordCoder

extension StorageError {
    /// The status for the error; see RFC 9110, section 15.
    var status: HTTPResponse.Status {
        switch code {
        case .invalidArgument: .badRequest
        case .permissionDenied: .forbidden
        case .readOnly: .methodNotAllowed
        case .tooLarge: .contentTooLarge
        case .conflict, .referenced: .conflict
        case .storageFull: .init(code: 507, reasonPhrase: "Insufficient Storage")
        case .locked, .suspended, .unreachable, .timedOut, .closed: .serviceUnavailable
        default: .internalServerError
        }
    }

    /// The error as a client sees it: whole if the client has caused it, or can act upon it. Of others it sees only the
    /// code, because their messages name files, tables and servers.
    var forClient: StorageError {
        let isWhole =
            switch code {
            case .invalidArgument, .permissionDenied, .conflict, .tooLarge, .decodingFailed,
                .encodingFailed:
                true
            default: false
            }
        // Its message and key name an item that the client may not see.
        if code == .referenced { return StorageError(code, "Another item names an item that is to be removed.") }
        var error = StorageError(code, isWhole ? message : "The server can't carry this out: \(code).", key: key)
        error.retryAfter = retryAfterForClient
        return error
    }

    /// The time after which to send the request again. A problem of the database can be over at any moment.
    private var retryAfterForClient: Duration? {
        retryAfter ?? (status == .serviceUnavailable ? .seconds(1) : nil)
    }

    /// The response for the error, a problem of RFC 9457.
    func response(method: HTTPRequest.Method? = nil) -> Response {
        var body: [UInt8] = []
        JSONObjectWriter.append(to: &body) { object in
            object.add("title", status.reasonPhrase)
            object.add("status", status.code)
            forClient.add(to: &object)
        }
        var headers: HTTPFields = [.contentType: "application/problem+json", .cacheControl: "no-store"]
        if let retryAfterForClient { headers[.retryAfter] = String(retryAfterForClient.roundedUpSeconds) }
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}

/// A request that has no client, or a route that has nothing.
enum RequestRefusal: Error {
    case unauthorized
    case notFound
    case noItem
    case preconditionFailed
    case tooManyStreams
    /// With the time after which the client may send another one.
    case tooManyRequests(Duration)
    case isBusy
    /// There is no memory for the body of the request.
    case noMemory(SharedSpace.Shortage)
    case misdirected
    case notOneHost
    case notJSON
    case isEncoded
    case unknownTransferCoding
    case wrongMethod([HTTPRequest.Method])
    case rangeNotSatisfiable(Int)
    case otherRequest

    func response() -> Response {
        let (status, code, detail): (HTTPResponse.Status, String, String) =
            switch self {
            case .unauthorized: (.unauthorized, "unauthorized", "The request has no token, or one that is not valid.")
            case .notFound: (.notFound, "notFound", "There is nothing at this address.")
            case .noItem: (.notFound, "noItem", "The collection has no such item.")
            case .preconditionFailed: (.preconditionFailed, "preconditionFailed", "The item is not as stated.")
            case .misdirected:
                (.misdirectedRequest, "misdirected", "The host of the request is not this machine.")
            case .notOneHost:
                (.badRequest, "invalidArgument", "The request has no header Host, or several.")
            case .notJSON:
                (.unsupportedMediaType, "invalidArgument", "The type of the body is not application/json.")
            case .isEncoded:
                (.unsupportedMediaType, "invalidArgument", "The body has an encoding. Send it without one.")
            case .unknownTransferCoding:
                (.notImplemented, "invalidArgument", "The body has a transfer coding other than chunked.")
            case .wrongMethod:
                (.methodNotAllowed, "invalidArgument", "The address has no such method.")
            case .tooManyStreams:
                (.tooManyRequests, "rateLimited", "The client has as many open streams as it may have.")
            case .otherRequest:
                (.unprocessableContent, "identifierUsed", "Another request had the same idempotency key.")
            case .tooManyRequests:
                (.tooManyRequests, "rateLimited", "The client sends more requests than it may.")
            case .isBusy:
                (.serviceUnavailable, "rateLimited", "The server has as many open streams as it may have.")
            case .noMemory(.ofClient):
                (
                    .tooManyRequests, "rateLimited",
                    "The client sends, or leaves unread, more bytes at the same time than it may."
                )
            case .noMemory(.ofAll):
                (
                    .serviceUnavailable, "rateLimited",
                    "The server receives and sends as many bytes at the same time as it may."
                )
            case .rangeNotSatisfiable: (.rangeNotSatisfiable, "invalidArgument", "The item has no such range.")
            }
        let body = JSONObjectWriter.line([
            "title": status.reasonPhrase, "status": status.code, "code": code, "detail": detail,
        ])
        var headers: HTTPFields = [.contentType: "application/problem+json", .cacheControl: "no-store"]
        switch self {
        case .wrongMethod(let allowed): headers[.allow] = allowed.map(\.rawValue).joined(separator: ", ")
        case .tooManyStreams, .isBusy, .noMemory: headers[.retryAfter] = "5"
        case .tooManyRequests(let wait): headers[.retryAfter] = String(wait.roundedUpSeconds)
        case .unauthorized: headers[.wwwAuthenticate] = "Bearer"
        case .rangeNotSatisfiable(let count): headers[.contentRange] = "bytes */\(count)"
        default: break
        }
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}

extension Duration {
    /// The whole seconds after which the duration is over, at least 1.
    fileprivate var roundedUpSeconds: Int64 {
        max(1, components.seconds + (components.attoseconds > 0 ? 1 : 0))
    }
}
#endif
