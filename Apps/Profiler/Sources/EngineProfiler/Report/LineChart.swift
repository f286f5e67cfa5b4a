/// Lines over two axes.
struct LineChart {

    /// A line.
    struct Line {
        /// The CSS class of its color.
        var color: String
        /// The points and their tooltips; a point without a tooltip is not marked.
        var points: [(x: Double, y: Double, title: String?)]
        /// The tooltip of the line.
        var title: String
    }

    /// The accessible description.
    let label: String
    /// The lines.
    let lines: [Line]
    /// The numbers on the horizontal axis and their labels. The `x` values of the points are on the same logarithmic
    /// scale.
    let xTicks: [(Double, String)]
    /// Formats the number at a tick of the vertical axis.
    let yTick: (Double) -> String

    private static let width = 340.0
    private static let height = 190.0
    private static let left = 52.0
    private static let right = 14.0
    private static let bottom = 22.0
    private static let top = 8.0

    /// The SVG element.
    var markup: Markup {
        let points = lines.flatMap(\.points)
        let x = LogScale(
            exactly: points.map(\.x) + xTicks.map(\.0), from: Self.left + 6, to: Self.width - Self.right)
        let y = LogScale(points.map(\.y), from: Self.height - Self.bottom, to: Self.top)
        var marks: [Markup] = []
        for tick in y.ticks {
            let place = y.position(tick)
            marks.append(
                #"""
                <line class="grid" x1="\#(Self.left)" y1="\#(place)" x2="\#(Self.width - Self.right)" \#
                y2="\#(place)"/>
                """#
            )
            marks.append(
                #"<text class="tick" x="\#(Self.left - 6)" y="\#(place + 3)" text-anchor="end">\#(yTick(tick))</text>"#)
        }
        for (tick, text) in xTicks {
            let place = x.position(tick)
            let end = Self.height - Self.bottom
            marks.append(#"<line class="grid" x1="\#(place)" y1="\#(Self.top)" x2="\#(place)" y2="\#(end)"/>"#)
            marks.append(#"<text class="tick" x="\#(place)" y="\#(end + 15)" text-anchor="middle">\#(text)</text>"#)
        }
        marks += lines.map { mark($0, x, y) }
        return drawing(label, width: Self.width, height: Self.height, marks)
    }

    private func mark(_ line: Line, _ x: LogScale, _ y: LogScale) -> Markup {
        var path: Markup = ""
        for (index, point) in line.points.enumerated() {
            path = "\(path)\(index == 0 ? "M" : "L")\(x.position(point.x)) \(y.position(point.y))"
        }
        var dots: [Markup] = []
        for point in line.points {
            guard let title = point.title else { continue }
            dots.append(
                #"""
                <circle cx="\#(x.position(point.x))" cy="\#(y.position(point.y))" \#
                r="3.5"><title>\#(title)</title></circle>
                """#
            )
        }
        return
            #"""
            <g class="\#(line.color)"><path class="line" \#
            d="\#(path)"><title>\#(line.title)</title></path>\#(dots)</g>
            """#
    }
}
