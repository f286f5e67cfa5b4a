import Foundation
import NIOCore
import NIOHTTP1

/// A client of the picture API over HTTP.
///
/// The API is treated as a third party's, so its responses are not trusted: their time and size are limited, redirects
/// are not followed, and descriptions are checked before they are shown.
struct PictureClient: Sendable {
    /// A picture with its bytes.
    struct Delivery: Sendable {
        let picture: Picture
        let image: Data
    }

    /// The maximum size of a description, in bytes.
    static let descriptionLimit = 16 * 1024
    /// The maximum size of an image, in bytes.
    static let imageLimit = 512 * 1024

    private let address: @Sendable () async -> String
    private let timeLimit: Duration

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - address: Returns the address of the API, such as `http://127.0.0.1:8081`.
    ///   - timeLimit: The time limit for a request, including the body of the response.
    init(address: @escaping @Sendable () async -> String, timeLimit: Duration = .seconds(5)) {
        self.address = address
        self.timeLimit = timeLimit
    }

    /// Checks that the API responds.
    ///
    /// - Throws: A ``PictureAPIError``.
    func check() async throws(PictureAPIError) {
        _ = try await send(.GET, "/v1/status", limit: 0, expecting: .noContent)
    }

    /// Fetches a random picture.
    ///
    /// - Parameter token: The token of the session; `nil` for pictures that do not require one.
    /// - Throws: A ``PictureAPIError``.
    func randomPicture(token: String?) async throws(PictureAPIError) -> Delivery {
        let json = try await send(.GET, "/v1/pictures/random", token: token, limit: Self.descriptionLimit).body
        let description: Description
        do {
            description = try JSONDecoder().decode(Description.self, from: json)
        } catch {
            throw .unexpected("The description is not as agreed: \(error)")
        }
        guard description.picture.isValid, description.image.hasPrefix("/"), description.image.utf8.count <= 200 else {
            throw .unexpected("The description has values out of bounds.")
        }
        let image = try await send(.GET, description.image, token: token, limit: Self.imageLimit)
        guard image.type.hasPrefix("image/svg+xml"), !image.body.isEmpty else {
            throw .unexpected("The image is not SVG but \"\(image.type)\".")
        }
        if let objection = Drawing.objection(to: image.body) { throw .unexpected("The image \(objection).") }
        return Delivery(picture: description.picture, image: image.body)
    }

    /// A picture and the path of its image.
    private struct Description: Decodable {
        let picture: Picture
        let image: String

        private enum Key: CodingKey { case image }

        init(from decoder: any Decoder) throws {
            picture = try Picture(from: decoder)
            image = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: .image)
        }
    }

    // MARK: Signing in

    /// Signs a user in.
    ///
    /// - Returns: The session, or `nil` if the API rejects the password.
    /// - Throws: A ``PictureAPIError``.
    func signIn(name: String, password: String) async throws(PictureAPIError) -> Session? {
        let session: Session
        do {
            let credentials = try JSONEncoder().encode(["name": name, "password": password])
            let answer = try await send(
                .POST, "/v1/sessions", json: credentials, limit: Self.descriptionLimit, expecting: .created)
            session = try JSONDecoder().decode(Session.self, from: answer.body)
        } catch PictureAPIError.signedOut {
            return nil
        } catch let error as PictureAPIError {
            throw error
        } catch {
            throw .unexpected("The session is not as agreed.")
        }
        guard (1...200).contains(session.name.utf8.count), isValidToken(session.token) else {
            throw .unexpected("The session has values out of bounds.")
        }
        return session
    }

    /// Revokes a token.
    ///
    /// - Throws: A ``PictureAPIError``.
    func signOut(token: String) async throws(PictureAPIError) {
        _ = try await send(.DELETE, "/v1/sessions", token: token, limit: 0, expecting: .noContent)
    }

    /// Whether a token is safe to use in a header: letters, digits, hyphens and underscores.
    private func isValidToken(_ token: String) -> Bool {
        (1...500).contains(token.utf8.count)
            && token.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
    }

    // MARK: Sending

    private struct Answer: Sendable {
        let type: String
        let body: Data
    }

    private func send(
        _ method: HTTPMethod,
        _ path: String,
        token: String? = nil,
        json: Data? = nil,
        limit: Int,
        expecting expected: HTTPResponseStatus = .ok
    ) async throws(PictureAPIError) -> Answer {
        let url = await address() + path
        do {
            var request = try PlainHTTPRequest(method, url: url)
            if let token { request.authorize(token: token) }
            if let json { request.setBody(json, type: "application/json") }
            return try await withDeadline(timeLimit) { [request] in
                let response = try await request.response(upTo: limit, connectTimeout: timeLimit)
                if response.status == .unauthorized { throw PictureAPIError.signedOut }
                guard response.status == expected else {
                    throw PictureAPIError.unexpected("\(path) was answered with \(response.status.code).")
                }
                let type = response.headers.first(name: "Content-Type") ?? ""
                return Answer(type: type, body: Data(response.body.readableBytesView))
            }
        } catch let error as PictureAPIError {
            throw error
        } catch is NIOTooManyBytesError {
            throw .unexpected("The answer to \(path) is larger than \(limit) bytes.")
        } catch {
            throw .unreachable
        }
    }
}
