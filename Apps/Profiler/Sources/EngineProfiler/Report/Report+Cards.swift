import Foundation

extension Report {

    /// A card with the main results of each engine.
    var cards: Markup {
        """
        <div class="cards">\(engines.map(card))</div>
        <p class="lead">Times are medians with \(Quantity.whole(size)) items stored.</p>
        """
    }

    private func card(_ engine: ReportEngine) -> Markup {
        var facts: [(value: String, meaning: String)] = []
        func add(_ operation: Operation, _ meaning: String) {
            guard let measurement = engine.measurement(operation.rawValue, items: size) else { return }
            facts.append((Quantity.time(measurement.latency.p50), meaning))
        }
        add(.write, "to write an item")
        add(.read, "to read an item")
        add(.readAll, "to read all items")
        add(.storeLoad, "to load a Store")
        let result = engine.result.sizes.first { $0.items == size }
        if let medium = result?.medium {
            facts.append((Quantity.bytes(Double(medium.allocated) / Double(size)), "per item on disk"))
        } else if let memory = result?.memory {
            facts.append(
                (Quantity.bytes(Double((memory.peak ?? memory.after) - memory.before)), "of memory for all items"))
        }
        let rows = facts.map { "<p><b>\($0.value)</b><span>\($0.meaning)</span></p>" as Markup }
        return """
            <article class="card \(engine.color)"><h2>\(engine.result.name)</h2>\(rows)</article>
            """
    }

    /// The growth in mathematical notation.
    func power(_ fit: GrowthFit) -> Markup {
        // An exponent that rounds to zero has no sign.
        let exponent = abs(fit.exponent) < 0.005 ? 0 : fit.exponent
        let text = String(format: "%.2f", abs(exponent))
        return "<i class=\"power\">n</i><sup>\(exponent < 0 ? "−" : "")\(text)</sup>"
    }
}
