import Foundation

extension Report {

    /// Memory, and room on the medium.
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
                        bar(engine, Double((use.peak ?? use.after) - use.before), "more memory while they were written")
                    }
                )
            }
            panels.append(
                panel(
                    "Memory", "by how much the resident memory grew, at its peak, while the items were written",
                    BarChart(label: "Memory", groups: groups, tick: { Quantity.bytes($0) }).markup))
        }
        if !medium.isEmpty {
            let groups = sizes.map { items in
                (
                    "\(Quantity.whole(items)) items",
                    medium.filter { $0.1.items == items }.map { engine, size, use in
                        bar(engine, Double(use.allocated) / Double(size.items), "on the medium for each item")
                    }
                )
            }
            panels.append(
                panel(
                    "Medium, for each item", "what the file system sets aside, after the engine was closed",
                    BarChart(label: "Room on the medium", groups: groups, tick: { Quantity.bytes($0) }).markup))
        }
        if panels.isEmpty { return "" }
        return section(
            "Memory and space",
            "Shorter is better. Memory is that of the whole process; an engine that keeps its items in memory, or caches them, shows it here.",
            grid(panels))
    }

    private func bar(_ engine: ReportEngine, _ bytes: Double, _ what: String) -> BarChart.Bar {
        BarChart.Bar(
            colour: engine.colour, value: max(1, bytes), label: Quantity.bytes(bytes),
            title: "\(engine.result.name): \(Quantity.bytes(bytes)) \(what)")
    }
}
