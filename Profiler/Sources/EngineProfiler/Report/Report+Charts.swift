import Foundation

extension Report {

    /// Throughput, by operation and engine.
    var throughput: Markup {
        section(
            "Throughput",
            "Items a second with \(Quantity.whole(size)) items stored. Longer is better, and the scale is one of powers of ten.",
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
                colour: engine.colour,
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
            "What a call takes with \(Quantity.whole(size)) items stored: the dot is the median, the bar reaches to what 99 of 100 calls did not exceed. Further left is better.",
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
                colour: engine.colour, p50: Double(max(1, latency.p50)), p99: Double(max(1, latency.p99)),
                title: "\(engine.result.name), \(operation): p50 \(Quantity.time(latency.p50)), "
                    + "p99 \(Quantity.time(latency.p99))")
        }
    }

    /// The cost of calls, by the number of items.
    var growth: Markup {
        let sizes = Set(engines.flatMap { $0.result.sizes.map(\.items) }).sorted()
        guard sizes.count > 1 else { return "" }
        let ticks = sizes.map { (Double($0), Quantity.short(Double($0))) }
        return section(
            "Cost as the number of items grows",
            "The median of a call. A flat line costs the same with any number of items. The exponent is that of the power of the number that fits best, by least squares of logarithms: with 0 the cost is constant, with 1 it is in proportion to the number.",
            grid(
                operations.map { operation in
                    panel(
                        operation, summary(operation),
                        LineChart(
                            label: "Median of \(operation) by the number of items",
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
            colour: engine.colour,
            points: engine.result.measurements(of: operation).map { items, measurement in
                let median = Quantity.time(measurement.latency.p50)
                var title = "\(name), \(Quantity.whole(items)) items: \(median) a call"
                if isAboutAll || measurement.itemsPerCall > 1 {
                    title += ", \(Quantity.time(measurement.costPerItem)) an item"
                }
                return (Double(items), Double(max(1, measurement.latency.p50)), title)
            },
            title: name)
    }

    private func exponents(_ operation: String) -> Markup {
        let chips = engines.compactMap { engine -> Markup? in
            guard let fit = engine.result.growth(of: operation) else { return nil }
            let quality = fit.determination.map { String(format: "R² = %.2f", $0) } ?? "of two sizes"
            return
                #"<span class="chip \#(engine.colour)" title="\#(quality)"><i></i><span>\#(power(fit))</span></span>"#
        }
        return #"<p class="chips">\#(chips)</p>"#
    }

    /// How many calls take how long.
    var distribution: Markup {
        section(
            "Distribution of latencies",
            "What share of the calls took no longer, with \(Quantity.whole(size)) items stored. To the right are the slowest; a step near the right edge is a pause that few calls meet.",
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

    /// The line of percentiles; a share s of slower calls is at 1 / s, so that each nine is as wide as the one before.
    private func percentiles(_ engine: ReportEngine, _ measurement: OperationResult) -> LineChart.Line {
        var points: [(x: Double, y: Double, title: String?)] = []
        var done: UInt64 = 0
        let total = measurement.histogram.reduce(UInt64(0)) { $0 + ($1.count == 2 ? $1[1] : 0) }
        for bucket in measurement.histogram where bucket.count == 2 {
            let time = Double(max(1, bucket[0]))
            let start = place(done, of: total)
            done += bucket[1]
            // Of the few calls beyond the edge only the longest is told, in words.
            if start >= Self.lastPercentile { break }
            points.append((start, time, nil))
            points.append((min(place(done, of: total), Self.lastPercentile), time, nil))
        }
        return LineChart.Line(
            colour: engine.colour, points: points,
            title: "\(engine.result.name): p50 \(Quantity.time(measurement.latency.p50)), "
                + "p99 \(Quantity.time(measurement.latency.p99)), p99.9 \(Quantity.time(measurement.latency.p999)), "
                + "longest \(Quantity.time(measurement.latency.max))")
    }

    /// The edge of the chart: 99.99 %.
    private static let lastPercentile = 10_000.0

    private func place(_ done: UInt64, of total: UInt64) -> Double {
        // The slowest call of n is at the share 1 - 1 / n, as none is slower than all.
        Double(total) / max(1, Double(total) - Double(done))
    }

    /// The engines that were measured with the size that the report is about.
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
