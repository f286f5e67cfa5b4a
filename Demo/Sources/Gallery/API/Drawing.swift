import Foundation

#if canImport(FoundationXML)
import FoundationXML
#endif

/// What an SVG document may be made of.
///
/// The pages show it as an image, which can do nothing. But it can be saved and opened from there, and then scripts would
/// run. So it is shapes and colours: no scripts, links, styles or animations, and nothing from elsewhere. What is not known is
/// refused.
enum Drawing {
    private static let elements: Set<String> = [
        "svg", "g", "defs", "title", "desc", "rect", "circle", "ellipse", "line", "polyline", "polygon", "path",
        "linearGradient", "radialGradient", "stop", "clipPath", "filter", "feGaussianBlur",
    ]

    private static let attributes: Set<String> = [
        "xmlns", "id", "viewBox", "width", "height", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "d",
        "points", "transform", "gradientTransform", "gradientUnits", "offset", "stdDeviation", "opacity", "fill",
        "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-opacity", "stroke-linecap", "stroke-linejoin",
        "stroke-dasharray", "stroke-dashoffset", "stop-color", "stop-opacity", "clip-path", "clip-rule", "filter",
    ]

    /// What is wrong with a document.
    ///
    /// - Returns: What follows on "The image", such as `has an element "script"`; `nil` if nothing is wrong.
    static func objection(to document: Data) -> String? {
        // In another encoding, a parser and a browser could read different things.
        guard let text = String(data: document, encoding: .utf8) else { return "is not in UTF-8" }
        // Neither entities nor style sheets nor anything hidden between brackets.
        if text.contains("<!") || text.contains("<?") { return "has a declaration or an instruction" }
        let examination = Examination()
        let parser = XMLParser(data: document)
        parser.delegate = examination
        // Not every Foundation tells by what this returns that it has passed over something.
        let isWellFormed = parser.parse() && parser.parserError == nil
        return examination.objection ?? (isWellFormed ? nil : "is no well-formed XML")
    }

    private static func objection(to element: String, _ values: [String: String]) -> String? {
        guard elements.contains(element) else { return "has an element \"\(element.prefix(40))\"" }
        for (name, value) in values {
            guard attributes.contains(name), isHarmless(value, of: name) else {
                return "has an attribute \"\(name.prefix(40))\" with the value \"\(value.prefix(40))\""
            }
        }
        return nil
    }

    private static func isHarmless(_ value: String, of attribute: String) -> Bool {
        switch attribute {
        case "xmlns": return value == "http://www.w3.org/2000/svg"
        case "transform", "gradientTransform": return !value.contains("\\")
        default:
            // A paint or a filter can be named, in the same document. A backslash could hide another name.
            if !value.contains("(") && !value.contains("\\") { return true }
            return value.wholeMatch(of: #/url\(#[A-Za-z0-9_-]+\)/#) != nil
        }
    }

    private final class Examination: NSObject, XMLParserDelegate {
        private(set) var objection: String?
        private var isInside = false

        func parser(
            _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            if !isInside && element != "svg" { objection = "is not SVG" }
            isInside = true
            objection = objection ?? Drawing.objection(to: element, attributes)
            if objection != nil { parser.abortParsing() }
        }
    }
}
