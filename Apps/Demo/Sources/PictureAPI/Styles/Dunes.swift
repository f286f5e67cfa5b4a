/// Hills behind hills under a low sun.
struct Dunes: Style {
    let name = "dunes"
    let algorithm = "Layered sine waves"
    let subjects = ["Dunes", "Hills", "Ridges", "Valleys", "Foothills"]

    func draw(_ palette: Palette, _ generator: inout SeededGenerator) -> Canvas {
        let tones = palette.lightestFirst
        let sky = palette.paper.mixed(with: tones[generator.integer(0...1)], palette.isDark ? 0.25 : 0.45)
        var canvas = Canvas(palette.paper)
        let glow = canvas.gradient([(sky, 1), (palette.paper, 1)])
        canvas.draw("rect", ["width": Canvas.width, "height": Canvas.height * 0.75, "fill": glow])

        let horizon = generator.number(330...430)
        sun(palette, above: horizon, on: &canvas, &generator)

        let count = generator.integer(6...8)
        for layer in 0..<count {
            let depth = Double(layer) / Double(count - 1)
            let top = horizon + depth * (Canvas.height - horizon - 90)
            let color = tone(at: depth, of: tones, far: sky)
            hill(Wave(height: 46 + 38 * depth, &generator), top, color, on: &canvas)
        }
        return canvas
    }

    private func sun(
        _ palette: Palette, above horizon: Double, on canvas: inout Canvas, _ generator: inout SeededGenerator
    ) {
        let x = generator.number(250...950)
        let y = horizon - generator.number(40...170)
        let radius = generator.number(60...105)
        let color = generator.pick(Array(palette.inks.suffix(2)))
        for (scale, opacity) in [(2.1, 0.10), (1.5, 0.16), (1.0, 1.0)] {
            canvas.draw(
                "circle", ["cx": x, "cy": y, "r": radius * scale, "fill": color, "fill-opacity": Thousandths(opacity)])
        }
    }

    /// Distant hills have nearly the colour of the sky; near hills are dark.
    private func tone(at depth: Double, of tones: [Color], far: Color) -> Color {
        let place = depth * Double(tones.count - 1)
        let index = min(Int(place), tones.count - 2)
        let tone = tones[index].mixed(with: tones[index + 1], place - Double(index))
        return tone.mixed(with: far, 0.5 * (1 - depth))
    }

    private func hill(_ wave: Wave, _ top: Double, _ color: Color, on canvas: inout Canvas) {
        var path = Path()
        path.move(to: 0, Canvas.height)
        for x in stride(from: 0.0, through: Canvas.width, by: 20) { path.line(to: x, top + wave(x)) }
        path.line(to: Canvas.width, Canvas.height)
        path.close()
        canvas.draw("path", ["d": path, "fill": color])
    }
}
