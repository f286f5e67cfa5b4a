extension SymbolGraph {

    /// The public interface: a line for each declaration, with its path, and one for each conformance.
    var interface: Set<String> {
        var names: [String: String] = [:]
        var lines: Set<String> = []
        for symbol in symbols where !symbol.isInherited {
            let path = symbol.pathComponents.joined(separator: ".")
            names[symbol.identifier.precise] = path
            let declaration = symbol.declarationFragments.map(\.spelling).joined()
            lines.insert("\(path): \(declaration.split(whereSeparator: \.isWhitespace).joined(separator: " "))")
        }
        for relationship in relationships where relationship.kind == "conformsTo" {
            guard let type = names[relationship.source] else { continue }
            // The compiler adds these marker protocols, which differ among its versions.
            let name = relationship.targetFallback ?? names[relationship.target] ?? relationship.target
            if !["Swift.Copyable", "Swift.Escapable"].contains(name) { lines.insert("\(type): conforms to \(name)") }
        }
        return lines
    }
}
