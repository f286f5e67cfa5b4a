import Foundation

/// Planets on their rings.
struct Orbits: Style {
    let name = "orbits"
    let algorithm = "Concentric arcs"
    let subjects = ["Orbits", "Moons", "Spheres", "Planets", "Satellites"]

    func draw(_ palette: Palette, _ generator: inout SeededGenerator) -> Canvas {
        var canvas = Canvas(palette.paper)
        let centre = (x: generator.number(420...780), y: generator.number(360...540))
        let count = generator.integer(9...13)
        var radius = generator.number(90...130)
        star(palette.inks[generator.integer(3...4)], centre, radius * 0.62, on: &canvas)
        for index in 0..<count {
            let color = palette.inks[index % palette.inks.count]
            ring(color, centre, radius, on: &canvas, &generator)
            if generator.chance(0.8) { planet(color, palette, centre, radius, on: &canvas, &generator) }
            radius += generator.number(38...78)
        }
        return canvas
    }

    private func star(_ color: Color, _ centre: (x: Double, y: Double), _ radius: Double, on canvas: inout Canvas) {
        for (scale, opacity) in [(1.35, 0.18), (1.0, 1.0)] {
            canvas.draw(
                "circle",
                [
                    "cx": centre.x, "cy": centre.y, "r": radius * scale,
                    "fill": color, "fill-opacity": Thousandths(opacity),
                ])
        }
    }

    /// A thin ring with a thick section.
    private func ring(
        _ color: Color,
        _ centre: (x: Double, y: Double),
        _ radius: Double,
        on canvas: inout Canvas,
        _ generator: inout SeededGenerator
    ) {
        canvas.draw(
            "circle",
            [
                "cx": centre.x, "cy": centre.y, "r": radius, "fill": "none", "stroke": color, "stroke-width": 1.5,
                "stroke-opacity": Thousandths(0.55),
            ])
        let around = 2 * Double.pi * radius
        let thick = generator.number(0.08...0.42) * around
        canvas.draw(
            "circle",
            [
                "cx": centre.x, "cy": centre.y, "r": radius, "fill": "none", "stroke": color,
                "stroke-width": generator.number(4...17), "stroke-linecap": "round",
                "stroke-dasharray": "\(thick.svg) \(around.svg)",
                "stroke-dashoffset": generator.number(0...around),
            ])
    }

    private func planet(
        _ color: Color,
        _ palette: Palette,
        _ centre: (x: Double, y: Double),
        _ radius: Double,
        on canvas: inout Canvas,
        _ generator: inout SeededGenerator
    ) {
        let angle = generator.number(0...(2 * .pi))
        let size = generator.number(10...30)
        let (x, y) = (centre.x + cos(angle) * radius, centre.y + sin(angle) * radius)
        // A gap in the ring around it.
        canvas.draw("circle", ["cx": x, "cy": y, "r": size + 7, "fill": palette.paper])
        canvas.draw("circle", ["cx": x, "cy": y, "r": size, "fill": generator.pick(palette.inks)])
        let light = Color.white
        canvas.draw(
            "circle",
            [
                "cx": x - size * 0.28, "cy": y - size * 0.28, "r": size * 0.4, "fill": light,
                "fill-opacity": Thousandths(0.25),
            ])
    }
}
