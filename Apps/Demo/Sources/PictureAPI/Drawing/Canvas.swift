/// A drawing surface that becomes an SVG document without scripts, links or fonts.
struct Canvas {
    /// Size in user units.
    static let width = 1200.0
    static let height = 900.0

    private var definitions = ""
    private var elements = ""

    /// Creates a canvas of one colour.
    init(_ paper: Color) {
        draw("rect", ["width": Self.width, "height": Self.height, "fill": paper])
    }

    /// Draws an element.
    ///
    /// - Parameters:
    ///   - name: The SVG name of the element.
    ///   - attributes: The attributes: numbers, colours, or constant text of this module.
    mutating func draw(_ name: String, _ attributes: KeyValuePairs<String, any CanvasValue>) {
        elements += Self.element(name, attributes)
    }

    /// Defines a gradient from top to bottom.
    ///
    /// - Returns: The paint for the attribute `fill`.
    mutating func gradient(_ stops: [(color: Color, opacity: Double)]) -> String {
        let name = "g\(definitions.utf8.count)"
        definitions += "<linearGradient id=\"\(name)\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\">"
        for (index, stop) in stops.enumerated() {
            let offset = Double(index) / Double(max(1, stops.count - 1))
            definitions += Self.element(
                "stop",
                ["offset": Thousandths(offset), "stop-color": stop.color, "stop-opacity": Thousandths(stop.opacity)])
        }
        definitions += "</linearGradient>"
        return "url(#\(name))"
    }

    /// Defines a blur.
    ///
    /// - Parameter radius: The standard deviation of the Gaussian blur.
    /// - Returns: The value of the attribute `filter`.
    mutating func blur(_ radius: Double) -> String {
        let name = "b\(definitions.utf8.count)"
        definitions += "<filter id=\"\(name)\" x=\"-20%\" y=\"-20%\" width=\"140%\" height=\"140%\">"
        definitions += Self.element("feGaussianBlur", ["stdDeviation": radius]) + "</filter>"
        return "url(#\(name))"
    }

    /// The document.
    var svg: String {
        let size = "width=\"\(Self.width.svg)\" height=\"\(Self.height.svg)\""
        let box = "viewBox=\"0 0 \(Self.width.svg) \(Self.height.svg)\""
        return "<svg xmlns=\"http://www.w3.org/2000/svg\" \(size) \(box)><defs>\(definitions)</defs>\(elements)</svg>\n"
    }

    private static func element(_ name: String, _ attributes: KeyValuePairs<String, any CanvasValue>) -> String {
        "<\(name)" + attributes.map { " \($0)=\"\($1.svg)\"" }.joined() + "/>"
    }
}

/// The value of an attribute.
protocol CanvasValue {
    /// The value in SVG notation.
    var svg: String { get }
}

extension String: CanvasValue {
    var svg: String { self }
}

extension Color: CanvasValue {
    var svg: String { description }
}

extension Double: CanvasValue {
    /// The number with one decimal, which is more precise than a pixel.
    var svg: String {
        let tenths = Int((self * 10).rounded())
        if tenths % 10 == 0 { return "\(tenths / 10)" }
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}

/// A number with three decimals, such as an opacity.
struct Thousandths: CanvasValue {
    private let thousandths: Int

    init(_ value: Double) {
        thousandths = Int((value * 1000).rounded())
    }

    var svg: String {
        let digits = "\(1000 + thousandths % 1000)".dropFirst()
        return thousandths % 1000 == 0 ? "\(thousandths / 1000)" : "\(thousandths / 1000).\(digits)"
    }
}
