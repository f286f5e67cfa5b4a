#if SecretService
/// The attributes by which a secret service finds a secret, and its label.
///
/// A service finds items with at least the given attributes. So secrets with a group have another schema than those
/// without, which distinguishes an empty group from none.
struct SecretItem: Sendable {
    /// Names and values alternately.
    let attributes: [String]

    /// The text that applications for passwords show.
    let label: String
}

extension SecretItem {

    /// - Parameter secret: The address of the secret.
    init(_ secret: SecretAddress) {
        let (key, service) = (Self.escaped(secret.key), Self.escaped(secret.service.value))
        var attributes = ["service", service, "key", key]
        if let group = secret.group {
            attributes += ["group", Self.escaped(group.value), "xdg:schema", "emporium.GroupSecret"]
        } else {
            attributes += ["xdg:schema", "emporium.Secret"]
        }
        self.attributes = attributes
        label = "\(service): \(key)"
    }

    /// Runs a closure with the attributes as an array of C strings that ends with null.
    func withAttributes<Result>(_ body: (UnsafePointer<UnsafePointer<CChar>?>) throws -> Result) rethrows -> Result {
        // One buffer with all texts and their final zeros.
        let texts = attributes.map { Array($0.utf8CString) }
        let offsets = texts.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.count) }.dropLast()
        return try Array(texts.joined()).withUnsafeBufferPointer { buffer in
            let pointers = offsets.map { offset in buffer.baseAddress.map { $0 + offset } } + [nil]
            return try pointers.withUnsafeBufferPointer { pointers in
                guard let first = pointers.baseAddress else { preconditionFailure("An array with elements.") }
                return try body(first)
            }
        }
    }

    /// Encodes a text uniquely without the zero byte, which texts of D-Bus cannot contain.
    private static func escaped(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "%": escaped.append(contentsOf: "%25".unicodeScalars)
            case "\0": escaped.append(contentsOf: "%00".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}
#endif
