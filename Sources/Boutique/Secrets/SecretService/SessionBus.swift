#if SecretService
import Bodega

/// The session bus of a desktop.
enum SessionBus {

    /// The address of the bus; `nil` if the environment names none.
    ///
    /// A bus is never started: that is the task of the session.
    ///
    /// - Parameter environment: The variables of the process.
    static func address(in environment: [String: String]) -> String? {
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return address }
        guard let folder = environment["XDG_RUNTIME_DIR"], !folder.isEmpty else { return nil }
        return "unix:path=" + escaped(folder + "/bus")
    }

    /// Encodes a value of an address as the specification of D-Bus requires.
    private static func escaped(_ value: String) -> String {
        value.utf8.reduce(into: "") { text, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "/"),
                UInt8(ascii: "."), UInt8(ascii: "\\"), UInt8(ascii: "*"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += "%" + byte.hexadecimal
            }
        }
    }
}
#endif
