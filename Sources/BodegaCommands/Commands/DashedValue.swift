#if CommandLineTool
import Foundation

/// The value of an option that begins with a dash: the parser takes it for another option, and misses a value.
enum DashedValue {

    private static let missing = "Missing value for '"

    /// A message of the parser, which ends with the usage of the command, with advice.
    ///
    /// - Returns: `nil` if nothing that begins with a dash follows the option without a value.
    static func advice(for message: String, _ arguments: [String]) -> String? {
        guard let start = message.range(of: missing), let end = message[start.upperBound...].firstIndex(of: "'")
        else { return nil }
        let option = String(message[start.upperBound..<end].prefix { $0 != " " })
        let value = zip(arguments, arguments.dropFirst()).first { $0 == option && $1.hasPrefix("-") }?.1
        guard let value else { return nil }
        let separator = option.hasPrefix("--") ? "=" : ""
        let advice = "'. If \(value) is the value, write \(option)\(separator)\(value)."
        return message.replacingCharacters(in: end...end, with: advice)
    }
}
#endif
