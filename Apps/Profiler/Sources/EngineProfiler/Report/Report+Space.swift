import Foundation

extension Report {

    /// The use of memory and disk.
    var space: Markup {
        let memory = engines.flatMap { engine in
            engine.result.sizes.compactMap { size in size.memory.map { (engine, size, $0) } }
        }
        let medium = engines.flatMap { engine in
            engine.result.sizes.compactMap { size in size.medium.map { (engine, size, $0) } }
        }
        let sizes = Set(engines.flatMap { $0.result.sizes.map(\.items) }).sorted()
        var panels: [Markup] = []
        if !memory.isEmpty {
            let groups = sizes.map { items in
                (
                    "\(Quantity.whole(items)) items",
                    memory.filter { $0.1.items == items }.map { engine, _, use in
                        bar(engine, Double((use.peak ?? use.after) - use.before), "of memory while they were written")
                    }
                )
            }
            panels.append(
                panel(
                    "Memory", "peak growth of the resident memory while the items were written",
                    BarChart(label: "Memory", groups: groups, tick: { Quantity.bytes($0) }).markup))
        }
        if !medium.isEmpty {
            let groups = sizes.map { items in
                (
                    "\(Quantity.whole(items)) items",
                    medium.filter { $0.1.items == items }.map { engine, size, use in
                        bar(engine, Double(use.allocated) / Double(size.items), "per item on disk")
                    }
                )
            }
            panels.append(
                panel(
                    "Disk space per item", "allocated by the file system, after the engine was closed",
                    BarChart(label: "Disk space", groups: groups, tick: { Quantity.bytes($0) }).markup))
        }
        if panels.isEmpty { return "" }
        return section(
            "Memory and space",
            """
            Shorter is better. Memory is that of the whole process, including the items that an engine keeps or caches \
            in memory.
            """,
            grid(panels))
    }

    private func bar(_ engine: ReportEngine, _ bytes: Double, _ what: String) -> BarChart.Bar {
        BarChart.Bar(
            color: engine.color, value: max(1, bytes), label: Quantity.bytes(bytes),
            title: "\(engine.result.name): \(Quantity.bytes(bytes)) \(what)")
    }
}
