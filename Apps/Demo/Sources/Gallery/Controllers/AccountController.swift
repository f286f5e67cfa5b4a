import Boutique
import Foundation
import Logging

/// The user's session with the API.
@MainActor
final class AccountController {
    /// The session, `nil` if the user is not signed in.
    ///
    /// Without the parameter `storage`, the session would be in the keychain on Apple platforms. Here all data of a
    /// gallery is in one folder.
    @SecurelyStoredValue<Session> var session: Session?

    private let api: PictureClient
    private let availability: Availability
    private let logger: Logger

    /// Creates a controller.
    init(secrets: any SecretStorage, api: PictureClient, availability: Availability, logger: Logger) {
        _session = SecurelyStoredValue(key: "session", service: "emporium-gallery", storage: secrets)
        self.api = api
        self.availability = availability
        self.logger = logger
    }

    /// Signs the user in.
    ///
    /// - Returns: Whether the password was right.
    /// - Throws: A ``PictureAPIError``, or a `KeychainError` if the session could not be stored.
    func signIn(name: String, password: String) async throws -> Bool {
        let session = try await availability.observe { () throws(PictureAPIError) in
            try await api.signIn(name: name, password: password)
        }
        guard let session else { return false }
        try $session.set(session)
        return true
    }

    /// Signs the user out, even if the API is offline. The API revokes the token if it can be reached.
    ///
    /// - Throws: A `KeychainError` if the session could not be removed. The user is still signed in then.
    func signOut() async throws {
        let former = session
        try $session.remove()
        guard let former else { return }
        do {
            try await availability.observe { () throws(PictureAPIError) in
                try await api.signOut(token: former.token)
            }
        } catch {
            logger.notice(
                "The API could not revoke the token of a signed-out user.", metadata: ["error": "\(error)"])
        }
    }

    /// Removes a session that the API no longer accepts.
    ///
    /// - Returns: Whether it was still the current session. If not, nothing has changed.
    /// - Throws: A `KeychainError` if the session could not be removed.
    func forget(_ former: Session?) throws -> Bool {
        guard session == former else { return false }
        try $session.remove()
        return true
    }
}
