import Foundation

/// Spells an error with all that a program can see of it: its case, the coding path key by key, the messages, the cause.
package func exactDescription(ofError error: any Error) -> String {
    switch error {
    case DecodingError.typeMismatch(let type, let context): "typeMismatch(\(type), \(spelling(of: context)))"
    case DecodingError.valueNotFound(let type, let context): "valueNotFound(\(type), \(spelling(of: context)))"
    case DecodingError.keyNotFound(let key, let context): "keyNotFound(\(spelling(of: key)), \(spelling(of: context)))"
    case DecodingError.dataCorrupted(let context): "dataCorrupted(\(spelling(of: context)))"
    case EncodingError.invalidValue(let value, let context):
        "invalidValue(\(exactDescription(of: value)), "
            + spelling(context.codingPath, context.debugDescription, context.underlyingError) + ")"
    case is CocoaError: spelling(of: error as NSError)
    // Foundation's own type; `is NSError` would hold for every error where it is bridged.
    case let error where type(of: error) is NSError.Type: spelling(of: error as NSError)
    default: "\(type(of: error)): \(String(reflecting: error))"
    }
}

/// Spells a coding path.
package func exactDescription(ofPath path: [any CodingKey]) -> String {
    "[\(path.map(spelling(of:)).joined(separator: ", "))]"
}

/// Spells what came of an attempt: the value or the error.
package func exactDescription<Value>(of outcome: Result<Value, any Error>) -> String {
    switch outcome {
    case .success(let value): exactDescription(of: value)
    case .failure(let error): "error: " + exactDescription(ofError: error)
    }
}

private func spelling(of key: any CodingKey) -> String {
    "\(exactDescription(of: key.stringValue))/\(key.intValue.map(String.init) ?? "-")/\(String(describing: key))"
}

private func spelling(of context: DecodingError.Context) -> String {
    spelling(context.codingPath, context.debugDescription, context.underlyingError)
}

private func spelling(_ path: [any CodingKey], _ message: String, _ cause: (any Error)?) -> String {
    "\(exactDescription(ofPath: path)), \(exactDescription(of: message)), "
        + (cause.map(exactDescription(ofError:)) ?? "no cause")
}

private func spelling(of error: NSError) -> String {
    // The order of a dictionary's members is not the same in equal ones.
    let details = error.userInfo.map { key, value in
        "\(key): \((value as? any Error).map(exactDescription(ofError:)) ?? String(describing: value))"
    }
    return "\(error.domain) \(error.code) {\(details.sorted().joined(separator: ", "))}"
}
