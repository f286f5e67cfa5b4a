import Foundation

/// Describes an error with all that a program can observe: its case, the keys of the coding path, the messages and the
/// cause.
///
/// - Parameter withKeyTypes: Whether to include the types of the path's keys. They are significant in errors that a
///   decoder's caller sees.
package func exactDescription(ofError error: any Error, withKeyTypes: Bool = true) -> String {
    ErrorSpelling(withKeyTypes: withKeyTypes).spelling(of: error)
}

/// Describes a coding path without the types of its keys, which depend on the implementation.
package func exactDescription(ofPath path: [any CodingKey]) -> String {
    ErrorSpelling(withKeyTypes: false).spelling(of: path)
}

/// Describes a result: the value or the error.
package func exactDescription<Value>(of outcome: Result<Value, any Error>, withKeyTypes: Bool = true) -> String {
    switch outcome {
    case .success(let value): exactDescription(of: value)
    case .failure(let error): "error: " + exactDescription(ofError: error, withKeyTypes: withKeyTypes)
    }
}

private struct ErrorSpelling {
    var withKeyTypes: Bool

    func spelling(of error: any Error) -> String {
        switch error {
        case DecodingError.typeMismatch(let type, let context): "typeMismatch(\(type), \(spelling(of: context)))"
        case DecodingError.valueNotFound(let type, let context): "valueNotFound(\(type), \(spelling(of: context)))"
        case DecodingError.keyNotFound(let key, let context):
            // The key is the requested one, so its type is the program's own.
            "keyNotFound(\(String(describing: key)), \(spelling(of: context)))"
        case DecodingError.dataCorrupted(let context): "dataCorrupted(\(spelling(of: context)))"
        case EncodingError.invalidValue(let value, let context):
            "invalidValue(\(exactDescription(of: value)), "
                + spelling(context.codingPath, context.debugDescription, context.underlyingError) + ")"
        case is CocoaError: spelling(of: error as NSError)
        // Every error can be bridged to `NSError`; this matches only those that are one.
        case let error where type(of: error) is NSError.Type: spelling(of: error as NSError)
        default: "\(type(of: error)): \(String(reflecting: error))"
        }
    }

    func spelling(of path: [any CodingKey]) -> String {
        let keys = path.map { key in
            let type = withKeyTypes ? "/\(String(describing: key))" : ""
            return "\(exactDescription(of: key.stringValue))/\(key.intValue.map(String.init) ?? "-")\(type)"
        }
        return "[\(keys.joined(separator: ", "))]"
    }

    private func spelling(of context: DecodingError.Context) -> String {
        spelling(context.codingPath, context.debugDescription, context.underlyingError)
    }

    private func spelling(_ path: [any CodingKey], _ message: String, _ cause: (any Error)?) -> String {
        "\(spelling(of: path)), \(exactDescription(of: message)), " + (cause.map(spelling(of:)) ?? "no cause")
    }

    private func spelling(of error: NSError) -> String {
        // Equal dictionaries can have different orders of members.
        let details = error.userInfo.map { key, value in
            "\(key): \((value as? any Error).map(spelling(of:)) ?? String(describing: value))"
        }
        return "\(error.domain) \(error.code) {\(details.sorted().joined(separator: ", "))}"
    }
}
