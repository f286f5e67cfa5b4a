import Foundation

/// The data of an SVG path.
struct Path: CanvasValue {
    private(set) var svg = ""

    /// Starts a subpath at a point.
    mutating func move(to x: Double, _ y: Double) { svg += "M\(x.svg) \(y.svg)" }

    /// Adds a straight line to a point.
    mutating func line(to x: Double, _ y: Double) { svg += "L\(x.svg) \(y.svg)" }

    /// Adds a quadratic curve to a point.
    mutating func curve(to x: Double, _ y: Double, by controlX: Double, _ controlY: Double) {
        svg += "Q\(controlX.svg) \(controlY.svg) \(x.svg) \(y.svg)"
    }

    /// Adds the shorter, clockwise arc of a circle to a point.
    mutating func arc(to x: Double, _ y: Double, radius: Double) {
        svg += "A\(radius.svg) \(radius.svg) 0 0 1 \(x.svg) \(y.svg)"
    }

    /// Closes the subpath.
    mutating func close() { svg += "Z" }

    /// A quarter of a disc.
    ///
    /// - Parameters:
    ///   - x: The x coordinate of the corner.
    ///   - y: The y coordinate of the corner.
    ///   - radius: The radius.
    ///   - quadrant: The position of the disc relative to the corner: 0 is right and below, then clockwise.
    static func quarterDisc(_ x: Double, _ y: Double, radius: Double, quadrant: Int) -> Path {
        let directions: [(Double, Double)] = [(1, 0), (0, 1), (-1, 0), (0, -1)]
        let start = directions[quadrant % 4]
        let end = directions[(quadrant + 1) % 4]
        var path = Path()
        path.move(to: x, y)
        path.line(to: x + start.0 * radius, y + start.1 * radius)
        path.arc(to: x + end.0 * radius, y + end.1 * radius, radius: radius)
        path.close()
        return path
    }
}

/// A line that rises and falls without repetition: a sum of sines of different wavelengths.
struct Wave {
    private let parts: [(length: Double, height: Double, shift: Double)]

    /// Creates a wave.
    ///
    /// - Parameters:
    ///   - height: The maximum deviation.
    ///   - generator: The source of the random numbers.
    init(height: Double, _ generator: inout SeededGenerator) {
        parts = [(900.0, 0.55), (430.0, 0.3), (210.0, 0.15)].map { length, share in
            (length * generator.number(0.8...1.3), height * share, generator.number(0...(2 * .pi)))
        }
    }

    /// The height at a position.
    func callAsFunction(_ x: Double) -> Double {
        parts.reduce(0) { $0 + $1.height * sin(x / $1.length * 2 * .pi + $1.shift) }
    }
}
