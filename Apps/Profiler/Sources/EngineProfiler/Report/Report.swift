import Foundation

/// A page with results: one file without scripts or external resources.
struct Report {
    /// The results.
    let profiles: [Profile]

    /// The engines of all results, side by side.
    var engines: [ReportEngine] {
        profiles.flatMap(\.engines).enumerated().map { ReportEngine(index: $0.offset, result: $0.element) }
    }

    /// The measured operations.
    var operations: [String] { EngineProfiler.operations(in: engines.map(\.result)) }

    /// The largest number of items that all engines were measured with, otherwise the largest one of any engine.
    var size: Int {
        let sizes = engines.map { Set($0.result.sizes.map(\.items)) }
        let common = sizes.dropFirst().reduce(sizes.first ?? []) { $0.intersection($1) }
        return common.max() ?? sizes.flatMap(\.self).max() ?? 0
    }

    /// The groups of operations; those of other versions are last.
    var groups: [(name: String, operations: [String])] {
        var groups = Operation.Group.allCases.map { group in
            (group.rawValue, operations.filter { Operation(rawValue: $0)?.group == group })
        }
        groups.append(("Others", operations.filter { Operation(rawValue: $0) == nil }))
        return groups.filter { !$0.1.isEmpty }
    }

    /// The page.
    var html: String {
        let page: Markup = """
            <!DOCTYPE html>
            <html xmlns="http://www.w3.org/1999/xhtml" lang="en">
            <head>
            <meta charset="utf-8"/>
            <meta name="viewport" content="width=device-width, initial-scale=1"/>
            <meta name="color-scheme" content="light dark"/>
            <title>Storage engines: \(names)</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            \(header)
            <main>
            \(cards)
            \(throughput)
            \(latency)
            \(growth)
            \(distribution)
            \(space)
            \(glance)
            \(numbers)
            \(conditions)
            \(reading)
            </main>
            <footer>Created by the profiler of Emporium.</footer>
            </body>
            </html>

            """
        return page.text
    }

    private var names: String { engines.map(\.result.name).joined(separator: ", ") }

    private var header: Markup {
        """
        <header>
        <p class="kicker">Storage engine profile</p>
        <h1>\(names)</h1>
        <p class="facts">\(facts)</p>
        \(profiles.flatMap(\.warnings).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
            .map { "<p class=\"note\">\($0)</p>" as Markup })
        </header>
        <nav class="legend" aria-label="Engines">\(engines.map(chip))</nav>
        """
    }

    private var facts: String {
        guard let profile = profiles.first else { return "" }
        let date = profile.date.formatted(.iso8601.year().month().day())
        guard profiles.count == 1 else { return "\(profiles.count) runs, first on \(date)" }
        let sizes = profile.settings.sizes.map(Quantity.whole).joined(separator: ", ")
        let processor = profile.environment.processor.map { " · \($0)" } ?? ""
        return "\(sizes) items of \(Quantity.whole(profile.settings.valueBytes)) bytes\(processor) · \(date)"
    }

    /// The name of an engine with its color.
    func chip(_ engine: ReportEngine) -> Markup {
        #"<span class="chip \#(engine.color)"><i></i>\#(engine.result.name)</span>"#
    }

    /// A section of the page.
    func section(_ title: String, _ explanation: String, _ content: Markup) -> Markup {
        """
        <section>
        <h2>\(title)</h2>
        <p class="lead">\(explanation)</p>
        \(content)
        </section>
        """
    }

    /// A chart with its title.
    func panel(_ title: String, _ detail: String, _ content: Markup) -> Markup {
        """
        <figure><figcaption><b>\(title)</b><span>\(detail)</span></figcaption>\(content)</figure>
        """
    }

    /// A description of an operation.
    func summary(_ operation: String) -> String {
        let batches = Set(profiles.map(\.settings.batch))
        return Operation(rawValue: operation)?.summary(batch: batches.count == 1 ? batches.first : nil)
            ?? "an operation of another version"
    }
}
