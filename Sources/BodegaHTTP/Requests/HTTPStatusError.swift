public import Bodega
import Foundation

extension StorageError.Code {
    /// The server has refused the request: as invalid, or because it is in conflict with the state of the item.
    /// Retrying does not help. It stands for the statuses 4xx without a code of their own, among them 400, 409, 412 and
    /// 422.
    public static let refused = StorageError.Code(rawValue: "refused")
}

/// A response that reports a failure. It is the cause of a `StorageError` of an ``HTTPStorageEngine``.
public struct HTTPStatusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The status, such as 503.
    public var status: Int
    /// The time that the server asks to wait before the next request, as a number of seconds or until a date (RFC 9110,
    /// section 10.2.3). A date is compared with that of the response, so the clocks need not agree. One that has passed
    /// is zero.
    public var retryAfter: Duration?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - status: The status, such as 503.
    ///   - retryAfter: The time to wait before the next request.
    public init(status: Int, retryAfter: Duration? = nil) {
        (self.status, self.retryAfter) = (status, retryAfter)
    }

    package init(_ response: HTTPStorageResponse) {
        status = response.status
        retryAfter = Self.retryAfter(of: response, now: Date())
    }

    /// The header `Retry-After`.
    static func retryAfter(of response: HTTPStorageResponse, now: Date) -> Duration? {
        guard let text = response.header("Retry-After"), !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // A number that does not fit is longer than any time limit.
            return .seconds(Int64(UInt32(text) ?? .max))
        }
        guard let date = HTTPDate.date(of: text, now: now) else { return nil }
        let start = response.header("Date").flatMap { HTTPDate.date(of: $0, now: now) } ?? now
        return .seconds(max(date.timeIntervalSince(start).rounded(.up), 0))
    }

    /// The status and the time to wait.
    public var description: String {
        "HTTP status \(status)" + (retryAfter.map { ", retry after \($0)" } ?? "")
    }
}

extension StorageError {

    /// Creates an error from the status of a response, which is neither a success nor an absent item.
    package init(_ response: HTTPStorageResponse, to request: HTTPStorageRequest, key: CacheKey?) {
        let status = response.status
        let subject = "\(request.method.rawValue) \(HTTPCollection.description(of: request.url))"
        let (code, reason): (Code, String) =
            switch status {
            case 401: (.unauthorized, "The server wants other credentials. Check the headers, for example the token.")
            case 403: (.permissionDenied, "The server denies access. Check the headers, for example the token.")
            case 404, 410: (.cannotOpen, "The server has no such collection. Check its address.")
            case 408: (.timedOut, "The server has waited too long for the request. Retry later.")
            case 413, 414, 431: (.tooLarge, "The item or its identifier is larger than the server accepts.")
            case 425, 429: (.unreachable, "The server accepts no more requests for now. Retry later.")
            case 507: (.storageFull, "The server has no space left.")
            case 304:
                (
                    .decodingFailed,
                    """
                    The server or a cache reports an unchanged resource, although the request had no condition. Check \
                    the headers and caches.
                    """
                )
            case 300..<400: (.cannotOpen, Self.redirect(response, request))
            case 400..<500, 501: (.refused, "The server has refused the request.")
            case 500...: (.unreachable, "The server has failed. Retry later.")
            default: (.decodingFailed, "The response has an unexpected status.")
            }
        let failure = HTTPStatusError(response)
        self.init(code, "\(reason) \(subject)", key: key, cause: failure)
        retryAfter = failure.retryAfter
    }

    private static func redirect(_ response: HTTPStorageResponse, _ request: HTTPStorageRequest) -> String {
        let target = response.header("Location").flatMap { URL(string: $0, relativeTo: request.url)?.absoluteURL }
        let place = target.map { " to \(HTTPCollection.description(of: $0))" } ?? ""
        return "The server redirects\(place). Redirects are not followed, because the headers may be secret."
    }
}
