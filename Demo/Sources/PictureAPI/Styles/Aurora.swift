/// Northern lights above mountains. Members only: it is the finest that the studio has.
struct Aurora: Style {
    let name = "aurora"
    let algorithm = "Blurred curtains"
    let subjects = ["Aurora", "Northern Lights", "Polar Night", "Borealis"]
    let isForMembers = true

    func draw(_ palette: Palette, _ generator: inout SeededGenerator) -> Canvas {
        let night = Color(0x070B1F)
        var canvas = Canvas(night)
        let tones = palette.lightestFirst
        let sky = canvas.gradient([(night, 1), (Color(0x0F1F3D), 1), (tones[4].mixed(with: night, 0.55), 1)])
        canvas.draw("rect", ["width": Canvas.width, "height": Canvas.height, "fill": sky])
        stars(on: &canvas, &generator)
        let soft = canvas.blur(16)
        for curtain in 0..<generator.integer(4...6) {
            self.curtain(palette.inks[curtain % palette.inks.count], soft, on: &canvas, &generator)
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

    /// A band of light that fades upwards.
    private func curtain(_ color: Color, _ blur: String, on canvas: inout Canvas, _ generator: inout SeededGenerator) {
        let bright = color.mixed(with: .white, 0.2)
        let light = canvas.gradient([(bright, 0), (bright, 0.28), (bright, 0.85), (bright, 0)])
        let base = generator.number(380...600)
        let height = generator.number(230...400)
        let (foot, top) = (Wave(height: 110, &generator), Wave(height: 70, &generator))
        var path = Path()
        path.move(to: -40, base + foot(-40))
        for x in stride(from: 0.0, through: Canvas.width + 40, by: 20) { path.line(to: x, base + foot(x)) }
        for x in stride(from: Canvas.width + 40, through: -40, by: -20) {
            path.line(to: x, base - height + foot(x) + top(x))
        }
        path.close()
        canvas.draw("path", ["d": path, "fill": light, "filter": blur])
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
