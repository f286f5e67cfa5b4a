#if SecretService
import Testing

@testable import Boutique

/// The parts of a secret service that need no service.
@Suite struct SecretServiceFailureTests {

    @Test(
        "The name of an error determines its code",
        arguments: [
            ("org.freedesktop.Secret.Error.IsLocked", KeychainError.Code.locked),
            ("org.freedesktop.DBus.Error.AccessDenied", .accessDenied),
            ("org.freedesktop.DBus.Error.ServiceUnknown", .unavailable),
            ("org.freedesktop.DBus.Error.NoReply", .unavailable), ("org.example.Unknown", .other),
        ])
    func codes(name: String, code: KeychainError.Code) {
        let error = SecretServiceFailure.refused(name).keychainError
        #expect(error.code == code)
        #expect("\(error)".contains(name))
    }

    @Test(
        "The session bus is that of the environment",
        arguments: [
            ([:], nil), (["DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": ""], nil),
            (["DBUS_SESSION_BUS_ADDRESS": "unix:abstract=x", "XDG_RUNTIME_DIR": "/run/user/1"], "unix:abstract=x"),
            (["XDG_RUNTIME_DIR": "/run/user/1"], "unix:path=/run/user/1/bus"),
            (["XDG_RUNTIME_DIR": "/a b,c;é\n"], "unix:path=/a%20b%2cc%3b%c3%a9%0a/bus"),
        ] as [([String: String], String?)])
    func address(environment: [String: String], address: String?) {
        #expect(SessionBus.address(in: environment) == address)
    }
}
#endif
