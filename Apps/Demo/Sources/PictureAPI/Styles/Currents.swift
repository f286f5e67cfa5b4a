import Foundation

/// Lines that follow a flow field.
struct Currents: Style {
    let name = "currents"
    let algorithm = "Flow field"
    let subjects = ["Currents", "Winds", "Tides", "Streams", "Grasses"]

    func draw(_ palette: Palette, _ generator: inout SeededGenerator) -> Canvas {
        var canvas = Canvas(palette.paper)
        let field = Field(&generator)
        for row in 0..<16 {
            for column in 0..<20 {
                let x = (Double(column) + generator.number(0...1)) * 66 - 60
                let y = (Double(row) + generator.number(0...1)) * 60 - 30
                canvas.draw(
                    "path",
                    [
                        "d": line(from: x, y, along: field, steps: generator.integer(7...18)),
                        "fill": "none", "stroke": generator.pick(palette.inks),
                        "stroke-width": generator.pick([3.0, 5.0, 8.0, 13.0, 21.0]), "stroke-linecap": "round",
                        "stroke-opacity": Thousandths(0.9),
                    ])
            }
        }
        return canvas
    }

    private func line(from x: Double, _ y: Double, along field: Field, steps: Int) -> Path {
        var path = Path()
        var (x, y) = (x, y)
        path.move(to: x, y)
        for _ in 0..<steps {
            let angle = field.angle(x, y)
            x += cos(angle) * 18
            y += sin(angle) * 18
            path.line(to: x, y)
        }
        return path
    }

    /// The direction of the flow at each point.
    private struct Field {
        private let heading: Double
        private let waves: [(x: Double, y: Double, shift: Double, strength: Double)]

        init(_ generator: inout SeededGenerator) {
            heading = generator.number(0...(2 * .pi))
            waves = [0.004, 0.007, 0.011].map { frequency in
                let direction = generator.number(0...(2 * .pi))
                return (
                    cos(direction) * frequency, sin(direction) * frequency,
                    generator.number(0...(2 * .pi)), 0.0045 / frequency
                )
            }
        }

        func angle(_ x: Double, _ y: Double) -> Double {
            waves.reduce(heading) { $0 + $1.strength * sin(x * $1.x + y * $1.y + $1.shift) }
        }
    }
}
