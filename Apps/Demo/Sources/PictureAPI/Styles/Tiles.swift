/// A floor of quarter discs, after Sébastien Truchet's tiles of 1704.
struct Tiles: Style {
    let name = "tiles"
    let algorithm = "Truchet tiling"
    let subjects = ["Tiles", "Mosaic", "Courtyard", "Floor", "Quilt"]

    func draw(_ palette: Palette, _ generator: inout SeededGenerator) -> Canvas {
        var canvas = Canvas(palette.paper)
        let side = generator.pick([150.0, 100.0])
        for y in stride(from: 0, to: Canvas.height, by: side) {
            for x in stride(from: 0, to: Canvas.width, by: side) {
                tile(x, y, side, palette, on: &canvas, &generator)
            }
        }
        return canvas
    }

    /// Two quarter discs in opposite corners, each with rings of other colours.
    private func tile(
        _ x: Double,
        _ y: Double,
        _ side: Double,
        _ palette: Palette,
        on canvas: inout Canvas,
        _ generator: inout SeededGenerator
    ) {
        let ground = generator.chance(0.35) ? palette.paper : generator.pick(palette.inks)
        canvas.draw("rect", ["x": x, "y": y, "width": side + 0.5, "height": side + 0.5, "fill": ground])
        let isTurned = generator.chance(0.5)
        let corners =
            isTurned ? [(x, y, 0), (x + side, y + side, 2)] : [(x + side, y, 1), (x, y + side, 3)]
        let inks = palette.colors.filter { $0 != ground }
        for (cornerX, cornerY, quadrant) in corners {
            var scales = [0.667, 0.333]
            if generator.chance(0.3) { scales.insert(1.0, at: 0) }
            if generator.chance(0.25) { scales = [0.667, 0.5, 0.333, 0.167] }
            for scale in scales {
                let disc = Path.quarterDisc(cornerX, cornerY, radius: side * scale, quadrant: quadrant)
                canvas.draw("path", ["d": disc, "fill": generator.pick(inks)])
            }
        }
    }
}
