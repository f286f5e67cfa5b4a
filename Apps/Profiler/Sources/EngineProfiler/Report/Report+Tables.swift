import Foundation

extension Report {

    /// The medians of all engines side by side.
    var glance: Markup {
        let rows = operations.map { operation -> Markup in
            let medians = engines.map { $0.measurement(operation, items: size)?.latency.p50 }
            let best = medians.compactMap(\.self).min()
            let cells = medians.map { median -> Markup in
                guard let median else { return "<td>–</td>" }
                let isBest = median == best && medians.count > 1
                return "<td\(isBest ? #" class="best""# : "" as Markup)>\(Quantity.time(median))</td>"
            }
            return #"<tr><th scope="row">\#(operation)<small>\#(summary(operation))</small></th>\#(cells)</tr>"#
        }
        let titles = engines.map { #"<th scope="col">\#(chip($0))</th>"# as Markup }
        return section(
            "Side by side",
            """
            The median time of a call with \(Quantity.whole(size)) stored items. The shortest time of each row is \
            bold.
            """,
            """
            <div class="scroll"><table class="glance">
            <thead><tr><th scope="col">Operation</th>\(titles)</tr></thead>
            <tbody>\(rows)</tbody>
            </table></div>
            """)
    }

    /// All numbers.
    var numbers: Markup {
        section(
            "All numbers", "All operations with all numbers of items.",
            Markup(operations.map(table)))
    }

    private func table(_ operation: String) -> Markup {
        let rows = engines.flatMap { engine in
            engine.result.measurements(of: operation).map { items, measurement -> Markup in
                let latency = measurement.latency
                let times = [latency.p50, latency.p90, latency.p99, latency.p999, latency.max].map {
                    "<td>\(Quantity.time($0))</td>" as Markup
                }
                let growth = measurement.memory.flatMap { memory in memory.peak.map { $0 - memory.before } }
                return """
                    <tr><th scope="row">\(chip(engine))</th><td>\(Quantity.whole(items))</td>\
                    <td>\(Quantity.whole(measurement.calls))</td>\(times)<td>\(Quantity.time(measurement.costPerItem))</td>\
                    <td>\(Quantity.short(measurement.itemsPerSecond))</td>\
                    <td>\(growth.map { Quantity.bytes(Double($0)) } ?? "–")</td></tr>
                    """
            }
        }
        let titles = [
            "Items", "Calls", "p50", "p90", "p99", "p99.9", "Max", "Per item", "Items/s", "Memory",
        ].map { #"<th scope="col">\#($0)</th>"# as Markup }
        return """
            <h3>\(operation) <small>\(summary(operation))</small></h3>
            <div class="scroll"><table>
            <thead><tr><th scope="col">Engine</th>\(titles)</tr></thead>
            <tbody>\(rows)</tbody>
            </table></div>
            """
    }

    /// The environment and settings.
    var conditions: Markup {
        section(
            "Environment and settings", "The conditions that the results depend on.",
            #"<div class="panels">\#(profiles.map(conditions))</div>"#)
    }

    private func conditions(_ profile: Profile) -> Markup {
        let environment = profile.environment
        let settings = profile.settings
        let engines = profile.engines.map { $0.name == $0.address ? $0.name : "\($0.name) = \($0.address)" }
        let amount =
            settings.seconds.map { "\($0) s per operation, in \(Budget.slices) slices, after a warm-up" }
            ?? settings.repetitions.map { "\(Quantity.whole($0)) calls per operation" } ?? "unknown"
        let facts: [(String, String)] = [
            ("Engines", engines.joined(separator: ", ")),
            ("Date", profile.date.formatted(.iso8601)),
            ("Processor", "\(environment.processor ?? "unknown"), \(environment.cores) cores"),
            ("Memory", Quantity.bytes(Double(environment.memory))),
            ("System", environment.system),
            ("File system", environment.fileSystem ?? "unknown"),
            ("Swift", "\(environment.swift), \(environment.isOptimized ? "optimized" : "not optimized")"),
            ("SQLite", environment.sqlite),
            ("Load at the start", environment.load.map { String(format: "%.2f", $0) } ?? "unknown"),
            ("Clock", "\(environment.clockOverhead) ns per call, subtracted"),
            ("Values", "\(Quantity.whole(settings.valueBytes)) bytes"),
            ("Batches", "\(Quantity.whole(settings.batch)) items"),
            ("Concurrency", "\(settings.concurrency)"),
            ("Durability", settings.durability.rawValue),
            ("Measured", amount),
            ("Seed", "\(settings.seed)"),
        ]
        let items = facts.map { "<dt>\($0.0)</dt><dd>\($0.1)</dd>" as Markup }
        return #"<figure><dl>\#(items)</dl></figure>"#
    }

    /// The notes on the method.
    var reading: Markup {
        section(
            "How to read this", "",
            """
            <ul class="prose">
            <li>A <b>call</b> is one call of the engine's interface. Each call is timed separately, and its result is \
            checked after the clock has stopped. A wrong result ends a run, so all numbers are those of correct \
            engines.</li>
            <li><b>p50</b> is the median; <b>p99</b> is the 99th percentile. Times are recorded in a \
            <a href="#hdr">High Dynamic Range histogram</a> with an error of at most 1 %.</li>
            <li>A worker makes its next call when the last one has returned. So these are <b>service times</b>: they \
            exclude the time that requests at a fixed rate would wait in a queue (“coordinated omission”).</li>
            <li><b>Throughput</b> is the number of items handled in the time that the workers spend in calls.</li>
            <li>Calls that change the number of items are made in rounds, and their changes are undone between rounds, \
            so that the number stays within a tenth, or a hundred items, of the stated one.</li>
            <li><b>Memory</b> is the growth of the process, including the memory that the allocator retains.</li>
            <li id="hdr">The histogram is Gil Tene’s, see hdrhistogram.org.</li>
            </ul>
            """)
    }
}
