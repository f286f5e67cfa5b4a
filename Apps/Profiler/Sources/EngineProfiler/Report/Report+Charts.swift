import Foundation

extension Report {

    /// Throughput, by operation and engine.
    var throughput: Markup {
        section(
            "Throughput",
            "Items per second with \(Quantity.whole(size)) stored items, on a logarithmic scale. Longer is better.",
            panels { operations in
                BarChart(
                    label: "Throughput of \(operations.joined(separator: ", "))",
                    groups: operations.map { operation in
                        (operation, bars(operation))
                    },
                    tick: Quantity.short
                ).markup
            })
    }

    private func bars(_ operation: String) -> [BarChart.Bar] {
        measured(operation).map { engine, measurement in
            BarChart.Bar(
                color: engine.color,
                value: measurement.itemsPerSecond,
                label: Quantity.rate(measurement.itemsPerSecond),
                title: "\(engine.result.name), \(operation): \(Quantity.rate(measurement.itemsPerSecond)), "
                    + "\(Quantity.whole(measurement.calls)) calls")
        }
    }

    /// Latency, by operation and engine.
    var latency: Markup {
        section(
            "Latency",
            """
            The time of a call with \(Quantity.whole(size)) stored items. The dot is the median, and the bar extends \
            to the 99th percentile. Further left is better.
            """,
            panels { operations in
                RangeChart(
                    label: "Median and 99th percentile of \(operations.joined(separator: ", "))",
                    groups: operations.map { operation in
                        (operation, ranges(operation))
                    }
                ).markup
            })
    }

    private func ranges(_ operation: String) -> [RangeChart.Range] {
        measured(operation).map { engine, measurement in
            let latency = measurement.latency
            return RangeChart.Range(
                color: engine.color, p50: Double(max(1, latency.p50)), p99: Double(max(1, latency.p99)),
                title: "\(engine.result.name), \(operation): p50 \(Quantity.time(latency.p50)), "
                    + "p99 \(Quantity.time(latency.p99))")
        }
    }

    /// The cost of calls by number of items.
    var growth: Markup {
        let sizes = Set(engines.flatMap { $0.result.sizes.map(\.items) }).sorted()
        guard sizes.count > 1 else { return "" }
        let ticks = sizes.map { (Double($0), Quantity.short(Double($0))) }
        return section(
            "Cost by number of items",
            """
            The median time of a call. A flat line is a constant cost. The exponent is that of the power law that fits \
            best, by least squares of the logarithms: 0 is a constant cost, 1 is a cost in proportion to the number of \
            items.
            """,
            grid(
                operations.map { operation in
                    panel(
                        operation, summary(operation),
                        LineChart(
                            label: "Median of \(operation) by number of items",
                            lines: engines.map { line(operation, $0) }.filter { !$0.points.isEmpty },
                            xTicks: ticks,
                            yTick: Quantity.time
                        ).markup + exponents(operation))
                }))
    }

    private func line(_ operation: String, _ engine: ReportEngine) -> LineChart.Line {
        let name = engine.result.name
        let isAboutAll = Operation(rawValue: operation)?.isAboutAllItems ?? false
        return LineChart.Line(
            color: engine.color,
            points: engine.result.measurements(of: operation).map { items, measurement in
                let median = Quantity.time(measurement.latency.p50)
                var title = "\(name), \(Quantity.whole(items)) items: \(median) per call"
                if isAboutAll || measurement.itemsPerCall > 1 {
                    title += ", \(Quantity.time(measurement.costPerItem)) per item"
                }
                return (Double(items), Double(max(1, measurement.latency.p50)), title)
            },
            title: name)
    }

    private func exponents(_ operation: String) -> Markup {
        let chips = engines.compactMap { engine -> Markup? in
            guard let fit = engine.result.growth(of: operation) else { return nil }
            let quality = fit.determination.map { String(format: "R² = %.2f", $0) } ?? "two sizes"
            return
                #"<span class="chip \#(engine.color)" title="\#(quality)"><i></i><span>\#(power(fit))</span></span>"#
        }
        return #"<p class="chips">\#(chips)</p>"#
    }

    /// The distribution of latencies.
    var distribution: Markup {
        section(
            "Distribution of latencies",
            """
            The share of calls that took at most this time, with \(Quantity.whole(size)) stored items. The slowest \
            calls are on the right. A step near the right edge is a pause that affects few calls.
            """,
            grid(
                operations.map { operation in
                    panel(
                        operation, summary(operation),
                        LineChart(
                            label: "Percentiles of \(operation)",
                            lines: measured(operation).map(percentiles),
                            xTicks: [(1, "0 %"), (10, "90 %"), (100, "99 %"), (1000, "99.9 %"), (10_000, "99.99 %")],
                            yTick: Quantity.time
                        ).markup)
                }))
    }

    /// The line of percentiles. A share s of slower calls is at 1 / s, so that each further nine has the same width.
    private func percentiles(_ engine: ReportEngine, _ measurement: OperationResult) -> LineChart.Line {
        var points: [(x: Double, y: Double, title: String?)] = []
        var done: UInt64 = 0
        let total = measurement.histogram.reduce(UInt64(0)) { $0 + ($1.count == 2 ? $1[1] : 0) }
        for bucket in measurement.histogram where bucket.count == 2 {
            let time = Double(max(1, bucket[0]))
            let start = place(done, of: total)
            done += bucket[1]
            // Only the longest of the calls beyond the edge is reported, in the tooltip.
            if start >= Self.lastPercentile { break }
            points.append((start, time, nil))
            points.append((min(place(done, of: total), Self.lastPercentile), time, nil))
        }
        return LineChart.Line(
            color: engine.color, points: points,
            title: "\(engine.result.name): p50 \(Quantity.time(measurement.latency.p50)), "
                + "p99 \(Quantity.time(measurement.latency.p99)), p99.9 \(Quantity.time(measurement.latency.p999)), "
                + "max \(Quantity.time(measurement.latency.max))")
    }

    /// The edge of the chart: 99.99 %.
    private static let lastPercentile = 10_000.0

    private func place(_ done: UInt64, of total: UInt64) -> Double {
        // The slowest of n calls is at the share 1 - 1 / n, because no call is slower.
        Double(total) / max(1, Double(total) - Double(done))
    }

    /// The engines that were measured with the size of the charts.
    func measured(_ operation: String) -> [(ReportEngine, OperationResult)] {
        engines.compactMap { engine in
            engine.measurement(operation, items: size).map { (engine, $0) }
        }
    }

    /// A panel for each group of operations.
    private func panels(_ chart: ([String]) -> Markup) -> Markup {
        #"<div class="columns">\#(groups.map { panel($0.name, "", chart($0.operations)) })</div>"#
    }

    /// Panels side by side.
    func grid(_ panels: [Markup]) -> Markup { #"<div class="panels">\#(panels)</div>"# }
}
