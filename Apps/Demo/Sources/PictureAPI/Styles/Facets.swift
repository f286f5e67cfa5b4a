/// A grid of plain shapes, as the Bauhaus taught them.
struct Facets: Style {
    let name = "facets"
    let algorithm = "Shape grammar"
    let subjects = ["Facets", "Blocks", "Composition", "Signals", "Shapes"]

    func draw(_ palette: Palette, _ generator: inout SeededGenerator) -> Canvas {
        var canvas = Canvas(palette.paper)
        let side = 150.0
        for y in stride(from: 0, to: Canvas.height, by: side) {
            for x in stride(from: 0, to: Canvas.width, by: side) {
                cell(x, y, side, palette, on: &canvas, &generator)
            }
        }
        return canvas
    }

    private func cell(
        _ x: Double,
        _ y: Double,
        _ side: Double,
        _ palette: Palette,
        on canvas: inout Canvas,
        _ generator: inout SeededGenerator
    ) {
        let ground = generator.chance(0.4) ? palette.paper : generator.pick(palette.inks)
        let inks = palette.colors.filter { $0 != ground }
        let ink = generator.pick(inks)
        canvas.draw("rect", ["x": x, "y": y, "width": side + 0.5, "height": side + 0.5, "fill": ground])
        let (middleX, middleY) = (x + side / 2, y + side / 2)
        switch generator.integer(0...6) {
        case 0:
            canvas.draw("circle", ["cx": middleX, "cy": middleY, "r": side * 0.5, "fill": ink])
            canvas.draw("circle", ["cx": middleX, "cy": middleY, "r": side * 0.22, "fill": generator.pick(inks)])
        case 1:
            let quadrant = generator.integer(0...3)
            let corner = [(x, y), (x + side, y), (x + side, y + side), (x, y + side)][quadrant]
            let disc = Path.quarterDisc(corner.0, corner.1, radius: side, quadrant: quadrant)
            canvas.draw("path", ["d": disc, "fill": ink])
        case 2:
            canvas.draw("path", ["d": triangle(x, y, side, generator.integer(0...3)), "fill": ink])
        case 3:
            for stripe in 0..<3 {
                let top = y + side * (Double(stripe) * 2 + 0.5) / 6
                canvas.draw("rect", ["x": x, "y": top, "width": side + 0.5, "height": side / 6, "fill": ink])
            }
        case 4:
            // Two leaves that meet in the middle.
            for (cornerX, cornerY, quadrant) in [(x, y, 0), (x + side, y + side, 2)] {
                let disc = Path.quarterDisc(cornerX, cornerY, radius: side / 2, quadrant: quadrant)
                canvas.draw("path", ["d": disc, "fill": generator.pick(inks)])
            }
        case 5:
            for row in 0..<3 {
                for column in 0..<3 {
                    canvas.draw(
                        "circle",
                        [
                            "cx": x + side * (Double(column) * 2 + 1) / 6,
                            "cy": y + side * (Double(row) * 2 + 1) / 6, "r": side * 0.09, "fill": ink,
                        ])
                }
            }
        default:
            break
        }
    }

    private func triangle(_ x: Double, _ y: Double, _ side: Double, _ missing: Int) -> Path {
        var corners = [(x, y), (x + side, y), (x + side, y + side), (x, y + side)]
        corners.remove(at: missing)
        var path = Path()
        path.move(to: corners[0].0, corners[0].1)
        path.line(to: corners[1].0, corners[1].1)
        path.line(to: corners[2].0, corners[2].1)
        path.close()
        return path
    }
}
