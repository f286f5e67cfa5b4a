/// Results as a table for the terminal.
struct ProfileTable {
    /// The results.
    let profile: Profile
    /// The terminal.
    let terminal: Terminal

    /// The lines: the environment, one table for each operation, and the space.
    var lines: [String] {
        var lines = environment
        for operation in operations(in: profile.engines) {
            lines.append("")
            let batch = profile.settings.batch
            let summary = Operation(rawValue: operation)?.summary(batch: batch) ?? "of another version"
            lines.append(terminal.styled(operation, .bold) + "  " + terminal.styled("a call \(summary)", .dim))
            lines += table(operation)
        }
        lines.append("")
        lines.append(terminal.styled("space", .bold))
        lines += space
        return lines
    }

    private var environment: [String] {
        let environment = profile.environment
        var lines = [
            [environment.processor, "\(environment.cores) cores", environment.system, environment.fileSystem]
                .compactMap(\.self).map(Terminal.safe).joined(separator: ", "),
            "Swift \(environment.swift), SQLite \(environment.sqlite), values of "
                + "\(profile.settings.valueBytes) bytes, durability \(profile.settings.durability.rawValue), "
                + "concurrency \(profile.settings.concurrency)",
        ]
        lines += profile.warnings.map { terminal.styled("Note: \($0)", .red) }
        return lines
    }

    private func table(_ operation: String) -> [String] {
        var table = TextTable(
            ["engine", "items", "calls", "p50", "p90", "p99", "p99.9", "max", "per item", "items/s", "grows"],
            leading: [0])
        for engine in profile.engines {
            let measurements = engine.measurements(of: operation)
            for (items, measurement) in measurements {
                let latency = measurement.latency
                let isLast = items == measurements.last?.items
                table.add(
                    [Terminal.safe(engine.name), Quantity.whole(items), Quantity.whole(measurement.calls)]
                        + [latency.p50, latency.p90, latency.p99, latency.p999, latency.max].map { Quantity.time($0) }
                        + [Quantity.time(measurement.costPerItem), Quantity.short(measurement.itemsPerSecond)]
                        + [isLast ? engine.growth(of: operation).map(Quantity.growth) ?? "" : ""])
            }
        }
        return table.lines
    }

    private var space: [String] {
        var table = TextTable(
            ["engine", "items", "memory", "peak", "on disk", "per item", "files"], leading: [0])
        for engine in profile.engines {
            for size in engine.sizes {
                let memory = size.memory
                table.add([
                    Terminal.safe(engine.name),
                    Quantity.whole(size.items),
                    memory.map { Quantity.bytes(Double($0.after - $0.before)) } ?? "-",
                    memory.flatMap { memory in
                        memory.peak.map { Quantity.bytes(Double($0 - memory.before)) }
                    } ?? "-",
                    size.medium.map { Quantity.bytes(Double($0.allocated)) } ?? "-",
                    size.medium.map { Quantity.bytes(Double($0.allocated) / Double(size.items)) } ?? "-",
                    size.medium.map { Quantity.whole($0.files) } ?? "-",
                ])
            }
        }
        return table.lines
    }
}

extension Profile {
    /// Conditions that limit the meaning of the results.
    var warnings: [String] {
        var warnings: [String] = []
        if !environment.isOptimized {
            warnings.append("The profiler was built without optimization. Build it with -c release.")
        }
        if settings.isQuick { warnings.append("Sizes and times were small (--quick), so the numbers are rough.") }
        if let load = environment.load, load > Double(environment.cores) * 0.75 {
            warnings.append("The machine was busy when the run began.")
        }
        return warnings
    }
}
