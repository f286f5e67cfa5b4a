#if SecretService
/// The failure of one call of a secret service.
///
/// It contains no text of the service except for the name of the error, because a service could quote a secret.
enum SecretServiceFailure: Error, Equatable, CustomStringConvertible {
    /// The time limit was reached.
    case cancelled
    /// The bus could not be reached or closed the connection, with GLib's message.
    case disconnected(String)
    /// The bus or the service answered with an error of this name.
    case refused(String)
    /// The answer has another form than the specification requires.
    case garbled

    /// Whether the object of the call does not exist.
    var isAbsence: Bool {
        [
            "org.freedesktop.Secret.Error.NoSuchObject", "org.freedesktop.DBus.Error.UnknownObject",
            "org.freedesktop.DBus.Error.UnknownMethod",
        ].contains { self == .refused($0) }
    }

    /// The reason, in one line.
    var description: String {
        switch self {
        case .cancelled: "cancelled"
        case .disconnected(let message): message
        case .refused(let name): name
        case .garbled: "malformed answer"
        }
    }

    /// The error for the caller of a storage.
    var keychainError: KeychainError {
        let (code, message): (KeychainError.Code, String) =
            switch self {
            case .cancelled: (.timedOut, "The call was cancelled.")
            case .disconnected: (.unavailable, Self.noBus)
            case .refused(let name): Self.refusals[name] ?? (.other, "The secret service failed. Try again.")
            case .garbled:
                (.other, "The secret service does not follow the specification. Update it, or use another one.")
            }
        return KeychainError(code, message, cause: self)
    }

    private static let refusals: [String: (KeychainError.Code, String)] = {
        let locked = (KeychainError.Code.locked, KeychainError.unlock)
        let denied = (KeychainError.Code.accessDenied, "The session bus or the secret service denies access.")
        let absent = (
            KeychainError.Code.unavailable,
            """
            The session bus has no secret service. Start one, such as gnome-keyring-daemon, or use \
            EncryptedFileSecretStorage.
            """
        )
        let ended = (
            KeychainError.Code.unavailable, "The secret service ended before it answered. Start it, and try again."
        )
        return [
            "org.freedesktop.Secret.Error.IsLocked": locked,
            "org.freedesktop.DBus.Error.AccessDenied": denied,
            "org.freedesktop.DBus.Error.AuthFailed": denied,
            "org.freedesktop.DBus.Error.ServiceUnknown": absent,
            "org.freedesktop.DBus.Error.NameHasNoOwner": absent,
            "org.freedesktop.DBus.Error.Spawn.ChildExited": absent,
            "org.freedesktop.DBus.Error.Spawn.ChildSignaled": absent,
            "org.freedesktop.DBus.Error.Spawn.ExecFailed": absent,
            "org.freedesktop.DBus.Error.Spawn.Failed": absent,
            "org.freedesktop.DBus.Error.Spawn.ServiceNotFound": absent,
            "org.freedesktop.DBus.Error.NoReply": ended,
            "org.freedesktop.DBus.Error.Disconnected": ended,
            "org.freedesktop.DBus.Error.TimedOut": (.timedOut, "The session bus could not start the secret service."),
        ]
    }()

    private static let noBus = """
        The session bus could not be reached. Log in to a desktop session, start a bus by dbus-run-session, or use \
        EncryptedFileSecretStorage.
        """
}

extension KeychainError {
    fileprivate static let unlock = """
        The keyring is locked. Unlock it, for example in the desktop's application for passwords, and try again.
        """

    static var lockedCollection: KeychainError { KeychainError(.locked, unlock) }

    static var promptNeeded: KeychainError {
        KeychainError(
            .locked,
            """
            The keyring wants to ask the user first. Unlock it, for example in the desktop's application for \
            passwords, and try again.
            """
        )
    }

    static var noSessionBus: KeychainError {
        KeychainError(
            .unavailable,
            """
            There is no session bus: neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set. Log in to a desktop \
            session, start a bus by dbus-run-session, or use EncryptedFileSecretStorage.
            """
        )
    }

    static var noCollection: KeychainError {
        KeychainError(
            .unavailable,
            """
            The secret service has no default collection. Create a keyring in the desktop's application for passwords, \
            and make it the default.
            """
        )
    }

    /// - Parameter limit: The time limit.
    static func noAnswer(within limit: Duration) -> KeychainError {
        KeychainError(
            .timedOut,
            """
            The secret service did not answer within \(limit). A change may still take effect. If this happens again, \
            the service hangs or was suspended: continue or restart it.
            """
        )
    }
}
#endif
