/// Groups of horizontal bars on a logarithmic scale.
struct BarChart {

    /// A bar.
    struct Bar {
        /// The CSS class of its color.
        var color: String
        /// The value.
        var value: Double
        /// The label of the value.
        var label: String
        /// The tooltip.
        var title: String
    }

    /// The accessible description.
    let label: String
    /// The groups and their names.
    let groups: [(name: String, bars: [Bar])]
    /// Formats the number at a tick.
    let tick: (Double) -> String

    private static let width = 360.0
    private static let left = 112.0
    private static let right = 58.0
    private static let thickness = 11.0
    private static let pitch = 14.0
    private static let gap = 9.0

    /// The SVG element.
    var markup: Markup {
        let rows = groups.reduce(0) { $0 + $1.bars.count }
        let bottom = Double(rows) * Self.pitch + Double(groups.count) * Self.gap
        let scale = LogScale(groups.flatMap(\.bars).map(\.value), from: Self.left, to: Self.width - Self.right)
        var marks: [Markup] = []
        for tick in scale.ticks {
            let x = scale.position(tick)
            marks.append(#"<line class="grid" x1="\#(x)" y1="0" x2="\#(x)" y2="\#(bottom)"/>"#)
            marks.append(
                #"<text class="tick" x="\#(x)" y="\#(bottom + 14)" text-anchor="middle">\#(self.tick(tick))</text>"#)
        }
        var y = Self.gap / 2
        for group in groups {
            let middle = y + Double(group.bars.count) * Self.pitch / 2
            marks.append(
                #"<text class="name" x="\#(Self.left - 8)" y="\#(middle + 3)" text-anchor="end">\#(group.name)</text>"#)
            for bar in group.bars {
                marks.append(mark(bar, scale, y))
                y += Self.pitch
            }
            y += Self.gap
        }
        return drawing(label, width: Self.width, height: bottom + 20, marks)
    }

    private func mark(_ bar: Bar, _ scale: LogScale, _ y: Double) -> Markup {
        // A bar at the start of the scale is visible, too.
        let end = max(scale.position(bar.value), Self.left + 2)
        return #"""
            <g><title>\#(bar.title)</title>\#
            <rect class="\#(bar.color)" x="\#(Self.left)" y="\#(y)" width="\#(end - Self.left)" \#
            height="\#(Self.thickness)" rx="2"/>\#
            <text class="value" x="\#(end + 4)" y="\#(y + Self.thickness - 2)">\#(bar.label)</text></g>
            """#
    }
}

/// An SVG element that fills the available width.
func drawing(_ label: String, width: Double, height: Double, _ marks: [Markup]) -> Markup {
    #"<svg viewBox="0 0 \#(width) \#(height)" role="img" aria-label="\#(label)">\#(marks)</svg>"#
}
