import Boutique
import Foundation
import Logging

/// Who is signed in at the API.
@MainActor
final class AccountController {
    /// The session, `nil` if nobody is signed in.
    ///
    /// On Apple's platforms it would be in the keychain if no storage were passed; here everything that belongs to a
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

    /// Signs somebody in.
    ///
    /// - Returns: Whether the password was right.
    /// - Throws: A ``PictureAPIError``, or a `KeychainError` if the session could not be kept.
    func signIn(name: String, password: String) async throws -> Bool {
        let session = try await availability.observe { () throws(PictureAPIError) in
            try await api.signIn(name: name, password: password)
        }
        guard let session else { return false }
        try $session.set(session)
        return true
    }

    /// Signs out. That works without the API, too; it forgets the session when it can be told.
    ///
    /// - Throws: A `KeychainError` if the session could not be removed. It is still there then.
    func signOut() async throws {
        let former = session
        try $session.remove()
        guard let former else { return }
        do {
            try await availability.observe { () throws(PictureAPIError) in
                try await api.signOut(token: former.token)
            }
        } catch {
            logger.notice("The API could not be told that somebody has signed out.", metadata: ["error": "\(error)"])
        }
    }

    /// Forgets a session that the API does not know any more.
    ///
    /// - Returns: Whether it was still the one that is signed in. If not, nothing has changed.
    /// - Throws: A `KeychainError` if it could not be removed.
    func forget(_ former: Session?) throws -> Bool {
        guard session == former else { return false }
        try $session.remove()
        return true
    }
}
