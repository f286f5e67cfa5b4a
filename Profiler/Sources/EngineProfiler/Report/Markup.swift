import Foundation

/// Text of a report, in which everything that comes from outside is escaped.
///
/// What is written in literals is markup as it stands; what is put in by interpolation is escaped, unless it is markup
/// itself. The markup is well-formed XML, too.
struct Markup: ExpressibleByStringInterpolation, Sendable {
    /// The markup.
    private(set) var text: String

    init(stringLiteral value: String) { text = value }

    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    /// Joins markup.
    init(_ parts: [Markup]) { text = parts.map(\.text).joined(separator: "\n") }

    /// Joins two pieces.
    static func + (left: Markup, right: Markup) -> Markup { Markup([left, right]) }

    /// What interpolation collects.
    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        mutating func appendLiteral(_ literal: String) { text += literal }

        /// Puts markup in as it is.
        mutating func appendInterpolation(_ markup: Markup) { text += markup.text }

        /// Puts pieces of markup in as they are.
        mutating func appendInterpolation(_ parts: [Markup]) { text += Markup(parts).text }

        /// Escapes a text.
        mutating func appendInterpolation(_ string: String) { text += Markup.escaped(string) }

        /// Writes a number.
        mutating func appendInterpolation(_ number: Int) { text += String(number) }

        /// Writes a coordinate, to a tenth of a unit.
        mutating func appendInterpolation(_ number: Double) {
            // In a drawing, what is not a number is nowhere.
            let tenths = number.isFinite ? (number * 10).rounded() / 10 : 0
            text += tenths == tenths.rounded() ? String(Int(tenths)) : String(tenths)
        }
    }

    /// Escapes what has a meaning in markup, and replaces what XML can't hold (XML 1.0, section 2.2).
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
                let isHeld = scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
                result.unicodeScalars.append(isHeld ? scalar : "\u{FFFD}")
            }
        }
        return result
    }
}
