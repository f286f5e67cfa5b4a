import Foundation

#if canImport(FoundationXML)
import FoundationXML
#endif

/// The subset of SVG that the gallery accepts.
///
/// The pages show a document as an image, in which scripts do not run. But a user can save the image and open it as a
/// document, in which scripts would run. So a document may contain shapes and colours only: no scripts, links, styles
/// or animations, and no external resources. Everything that is not in the lists below is refused.
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

    /// Examines a document.
    ///
    /// - Returns: The end of a sentence that begins with "The image", such as `has an element "script"`; `nil` if the
    ///   document is accepted.
    static func objection(to document: Data) -> String? {
        // In another encoding, a parser and a browser could read the document differently.
        guard let text = String(data: document, encoding: .utf8) else { return "is not in UTF-8" }
        // Entities, style sheets and comments are refused.
        if text.contains("<!") || text.contains("<?") { return "has a declaration or an instruction" }
        let examination = Examination()
        let parser = XMLParser(data: document)
        parser.delegate = examination
        // On some platforms Foundation's parser returns true although it has skipped an error.
        let isWellFormed = parser.parse() && parser.parserError == nil
        return examination.objection ?? (isWellFormed ? nil : "is not well-formed XML")
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
            // A paint or a filter may be referenced within the document. A backslash could escape another reference.
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
