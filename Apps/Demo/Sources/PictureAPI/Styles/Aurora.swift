/// Northern lights above mountains, for members only.
struct Aurora: Style {
    let name = "aurora"
    let algorithm = "Curtains of rays"
    let subjects = ["Aurora", "Northern Lights", "Polar Night", "Borealis"]
    let isForMembers = true

    func draw(_ palette: Palette, _ generator: inout SeededGenerator) -> Canvas {
        let night = Color(0x070B1F)
        var canvas = Canvas(night)
        let tones = palette.lightestFirst
        let sky = canvas.gradient([(night, 1), (Color(0x0F1F3D), 1), (tones[4].mixed(with: night, 0.55), 1)])
        canvas.draw("rect", ["width": Canvas.width, "height": Canvas.height, "fill": sky])
        stars(on: &canvas, &generator)
        let soft = canvas.blur(7)
        let lights = [0x5EF2B0, 0x38D6C4, 0x8B7BFF, 0xD07BFF, 0x9BFF8A].map(Color.init)
        for curtain in 0..<3 {
            let color = generator.pick(lights).mixed(with: palette.inks[curtain % palette.inks.count], 0.25)
            self.curtain(color, soft, on: &canvas, &generator)
        }
        for (index, top) in [680.0, 745, 815].enumerated() {
            let color = Color(0x0A1128).mixed(with: tones[4], 0.22 - 0.09 * Double(index))
            mountains(top, color, on: &canvas, &generator)
        }
        return canvas
    }

    private func stars(on canvas: inout Canvas, _ generator: inout SeededGenerator) {
        for _ in 0..<170 {
            canvas.draw(
                "circle",
                [
                    "cx": generator.number(0...Canvas.width), "cy": generator.number(0...640),
                    "r": generator.number(0.6...2.2), "fill": Color.white,
                    "fill-opacity": Thousandths(generator.number(0.25...0.95)),
                ])
        }
    }

    /// Adjacent rays that stand on a wave and fade upwards; three layers of different brightness.
    private func curtain(_ color: Color, _ blur: String, on canvas: inout Canvas, _ generator: inout SeededGenerator) {
        let foot = Wave(height: 90, &generator)
        let base = generator.number(430...610)
        let height = generator.number(260...400)
        let light = canvas.gradient([(color, 0), (color, 0.12), (color, 0.4), (color.mixed(with: .white, 0.25), 0.75)])
        for _ in 0..<3 {
            var rays = Path()
            for x in stride(from: -20.0, through: Canvas.width + 20, by: 22) {
                let (left, right) = (x, x + generator.number(10...30))
                let top = height * generator.number(0.35...1)
                rays.move(to: left, base + foot(left))
                rays.line(to: left + 6, base + foot(left) - top)
                rays.line(to: right + 6, base + foot(right) - top)
                rays.line(to: right, base + foot(right))
                rays.close()
            }
            canvas.draw(
                "path",
                ["d": rays, "fill": light, "filter": blur, "opacity": Thousandths(generator.number(0.35...0.65))])
        }
    }

    private func mountains(_ top: Double, _ color: Color, on canvas: inout Canvas, _ generator: inout SeededGenerator) {
        let wave = Wave(height: 60, &generator)
        var path = Path()
        path.move(to: 0, Canvas.height)
        var x = 0.0
        while x < Canvas.width {
            path.line(to: x, top + wave(x) + generator.number(-26...26))
            x += generator.number(24...70)
        }
        path.line(to: Canvas.width, top + wave(Canvas.width))
        path.line(to: Canvas.width, Canvas.height)
        path.close()
        canvas.draw("path", ["d": path, "fill": color])
    }
}
