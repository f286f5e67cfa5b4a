import Foundation

/// The data of an SVG path.
struct Path: CanvasValue {
    private(set) var svg = ""

    /// Begins at a point.
    mutating func move(to x: Double, _ y: Double) { svg += "M\(x.svg) \(y.svg)" }

    /// A straight line to a point.
    mutating func line(to x: Double, _ y: Double) { svg += "L\(x.svg) \(y.svg)" }

    /// A quadratic curve to a point.
    mutating func curve(to x: Double, _ y: Double, by controlX: Double, _ controlY: Double) {
        svg += "Q\(controlX.svg) \(controlY.svg) \(x.svg) \(y.svg)"
    }

    /// Part of a circle to a point, the shorter one, clockwise.
    mutating func arc(to x: Double, _ y: Double, radius: Double) {
        svg += "A\(radius.svg) \(radius.svg) 0 0 1 \(x.svg) \(y.svg)"
    }

    /// Back to the beginning.
    mutating func close() { svg += "Z" }

    /// A quarter of a disc.
    ///
    /// - Parameters:
    ///   - x: The corner's place.
    ///   - y: The corner's place.
    ///   - radius: The radius.
    ///   - quadrant: Where the disc lies seen from its corner: 0 right and below, then clockwise.
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

/// A line that rises and falls without repeating itself: a few sines of different lengths.
struct Wave {
    private let parts: [(length: Double, height: Double, shift: Double)]

    /// Creates a wave.
    ///
    /// - Parameters:
    ///   - height: How far it goes up and down at most.
    ///   - generator: What it is drawn from.
    init(height: Double, _ generator: inout SeededGenerator) {
        parts = [(900.0, 0.55), (430.0, 0.3), (210.0, 0.15)].map { length, share in
            (length * generator.number(0.8...1.3), height * share, generator.number(0...(2 * .pi)))
        }
    }

    /// How high it is at a place.
    func callAsFunction(_ x: Double) -> Double {
        parts.reduce(0) { $0 + $1.height * sin(x / $1.length * 2 * .pi + $1.shift) }
    }
}
