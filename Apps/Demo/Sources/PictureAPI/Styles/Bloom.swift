import Foundation

/// Large flowers seen from above.
struct Bloom: Style {
    let name = "bloom"
    let algorithm = "Rotated petals"
    let subjects = ["Bloom", "Dahlia", "Garden", "Petals", "Rosette"]

    func draw(_ palette: Palette, _ generator: inout SeededGenerator) -> Canvas {
        var canvas = Canvas(palette.paper)
        // One large flower, and others that are partly outside of the picture.
        let places = [
            (generator.number(430...770), generator.number(360...540), generator.number(330...410)),
            (generator.number(60...190), generator.number(90...240), generator.number(150...240)),
            (generator.number(1010...1160), generator.number(660...840), generator.number(170...260)),
            (generator.number(1000...1150), generator.number(40...200), generator.number(90...170)),
            (generator.number(50...220), generator.number(700...860), generator.number(90...180)),
        ]
        for (index, place) in places.enumerated().reversed() where index < 3 || generator.chance(0.7) {
            flower(at: place.0, place.1, place.2, palette, on: &canvas, &generator)
        }
        return canvas
    }

    private func flower(
        at x: Double,
        _ y: Double,
        _ size: Double,
        _ palette: Palette,
        on canvas: inout Canvas,
        _ generator: inout SeededGenerator
    ) {
        let count = generator.integer(9...16)
        let width = generator.number(0.75...1.15)
        let first = generator.integer(0...4)
        for (ring, scale) in [1.0, 0.78, 0.57, 0.38].enumerated() {
            let color = palette.inks[(first + ring) % palette.inks.count]
            let turn = Double(ring % 2) * .pi / Double(count) + generator.number(-0.05...0.05)
            for petal in 0..<count {
                let angle = Double(petal) / Double(count) * 2 * .pi + turn
                let shade = color.mixed(with: petal % 2 == 0 ? .white : .black, 0.07)
                canvas.draw(
                    "path",
                    [
                        "d": self.petal(x, y, angle, size * scale, width * 2 * .pi / Double(count)),
                        "fill": shade, "fill-opacity": Thousandths(0.88),
                    ])
            }
        }
        canvas.draw("circle", ["cx": x, "cy": y, "r": size * 0.13, "fill": palette.inks[(first + 4) % 5]])
        canvas.draw("circle", ["cx": x, "cy": y, "r": size * 0.07, "fill": palette.paper])
    }

    private func petal(_ x: Double, _ y: Double, _ angle: Double, _ length: Double, _ width: Double) -> Path {
        var path = Path()
        let tip = (x + cos(angle) * length, y + sin(angle) * length)
        let left = (x + cos(angle - width) * length * 0.75, y + sin(angle - width) * length * 0.75)
        let right = (x + cos(angle + width) * length * 0.75, y + sin(angle + width) * length * 0.75)
        path.move(to: x, y)
        path.curve(to: tip.0, tip.1, by: left.0, left.1)
        path.curve(to: x, y, by: right.0, right.1)
        path.close()
        return path
    }
}
