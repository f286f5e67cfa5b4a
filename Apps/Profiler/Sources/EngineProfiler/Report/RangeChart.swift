/// Ranges from the median to the 99th percentile, in groups on a logarithmic scale.
struct RangeChart {

    /// A range.
    struct Range {
        /// The CSS class of its color.
        var color: String
        /// The median, in nanoseconds.
        var p50: Double
        /// The 99th percentile, in nanoseconds.
        var p99: Double
        /// The tooltip.
        var title: String
    }

    /// The accessible description.
    let label: String
    /// The groups and their names.
    let groups: [(name: String, ranges: [Range])]

    private static let width = 360.0
    private static let left = 112.0
    private static let right = 16.0
    private static let pitch = 14.0
    private static let gap = 9.0

    /// The SVG element.
    var markup: Markup {
        let rows = groups.reduce(0) { $0 + $1.ranges.count }
        let bottom = Double(rows) * Self.pitch + Double(groups.count) * Self.gap
        let values = groups.flatMap(\.ranges).flatMap { [$0.p50, $0.p99] }
        let scale = LogScale(values, from: Self.left, to: Self.width - Self.right)
        var marks: [Markup] = []
        for tick in scale.ticks {
            let x = scale.position(tick)
            marks.append(#"<line class="grid" x1="\#(x)" y1="0" x2="\#(x)" y2="\#(bottom)"/>"#)
            marks.append(
                #"<text class="tick" x="\#(x)" y="\#(bottom + 14)" text-anchor="middle">\#(Quantity.time(tick))</text>"#
            )
        }
        var y = Self.gap / 2
        for group in groups {
            let middle = y + Double(group.ranges.count) * Self.pitch / 2
            marks.append(
                #"<text class="name" x="\#(Self.left - 8)" y="\#(middle + 3)" text-anchor="end">\#(group.name)</text>"#)
            for range in group.ranges {
                marks.append(mark(range, scale, y + Self.pitch / 2))
                y += Self.pitch
            }
            y += Self.gap
        }
        return drawing(label, width: Self.width, height: bottom + 20, marks)
    }

    private func mark(_ range: Range, _ scale: LogScale, _ y: Double) -> Markup {
        let start = scale.position(range.p50)
        let end = scale.position(range.p99)
        return #"""
            <g class="\#(range.color)"><title>\#(range.title)</title>\#
            <line class="range" x1="\#(start)" y1="\#(y)" x2="\#(end)" y2="\#(y)"/>\#
            <circle cx="\#(start)" cy="\#(y)" r="4.5"/>\#
            <path class="end" d="M\#(end) \#(y - 4.5)V\#(y + 4.5)"/></g>
            """#
    }
}
