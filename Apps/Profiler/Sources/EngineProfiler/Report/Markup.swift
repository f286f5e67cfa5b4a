import Foundation

/// Markup of a report, in which all external text is escaped.
///
/// Literals are markup. Interpolated values are escaped, unless they are markup themselves. The markup is also
/// well-formed XML.
struct Markup: ExpressibleByStringInterpolation, Sendable {
    /// The markup.
    private(set) var text: String

    init(stringLiteral value: String) { text = value }

    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    /// Joins markup.
    init(_ parts: [Markup]) { text = parts.map(\.text).joined(separator: "\n") }

    /// Concatenates two pieces.
    static func + (left: Markup, right: Markup) -> Markup { Markup([left, right]) }

    /// The interpolation that escapes values.
    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        mutating func appendLiteral(_ literal: String) { text += literal }

        /// Appends markup unchanged.
        mutating func appendInterpolation(_ markup: Markup) { text += markup.text }

        /// Appends pieces of markup unchanged.
        mutating func appendInterpolation(_ parts: [Markup]) { text += Markup(parts).text }

        /// Appends a text and escapes it.
        mutating func appendInterpolation(_ string: String) { text += Markup.escaped(string) }

        /// Appends a number.
        mutating func appendInterpolation(_ number: Int) { text += String(number) }

        /// Appends a coordinate, rounded to a tenth of a unit.
        mutating func appendInterpolation(_ number: Double) {
            // A coordinate that is not finite becomes zero.
            let tenths = number.isFinite ? (number * 10).rounded() / 10 : 0
            text += tenths == tenths.rounded() ? String(Int(tenths)) : String(tenths)
        }
    }

    /// Escapes characters with a meaning in markup, and replaces those that XML can't contain (XML 1.0, section 2.2).
    static func escaped(_ string: String) -> String {
        var result = ""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\t", "\n", "\r": result += " "
            default:
                let isAllowed = scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
                result.unicodeScalars.append(isAllowed ? scalar : "\u{FFFD}")
            }
        }
        return result
    }
}
