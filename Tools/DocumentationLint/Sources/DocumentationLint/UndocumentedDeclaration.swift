import Foundation

/// A public declaration that lacks a documentation comment.
struct UndocumentedDeclaration: Hashable, Comparable, CustomStringConvertible {

    let path: String
    /// Counted from 1.
    let line: Int
    /// Counted from 1.
    let column: Int
    let name: String

    /// In the form of the compiler's messages, so that editors find the place.
    var description: String {
        "\(path):\(line):\(column): error: the public \(name) has no documentation comment"
    }

    static func < (one: Self, other: Self) -> Bool {
        (one.path, one.line, one.column, one.name) < (other.path, other.line, other.column, other.name)
    }
}

extension SymbolGraph {

    /// The symbols without a documentation comment, except those that implement a requirement or override a member: their
    /// documentation is that of the requirement, which is a symbol of its own if it is one of ours.
    var undocumentedDeclarations: [UndocumentedDeclaration] {
        let implementations = Set(
            relationships
                .filter { $0.sourceOrigin != nil || $0.kind == "defaultImplementationOf" || $0.kind == "overrides" }
                .map(\.source)
        )
        return symbols.compactMap { symbol in
            guard
                let location = symbol.location,
                !symbol.isInherited,
                !symbol.isDocumented,
                !implementations.contains(symbol.identifier.precise)
            else { return nil }
            return UndocumentedDeclaration(
                path: URL(string: location.uri)?.path ?? location.uri,
                line: location.position.line + 1,
                column: location.position.character + 1,
                name: "\(symbol.kind.displayName.lowercased()) \(symbol.pathComponents.joined(separator: "."))"
            )
        }
    }
}

extension SymbolGraph.Symbol {

    fileprivate var isDocumented: Bool {
        docComment?.lines.contains { !$0.text.allSatisfy(\.isWhitespace) } ?? false
    }

    /// Whether the symbol is a protocol extension's, listed once more for a conforming type.
    fileprivate var isInherited: Bool {
        identifier.precise.contains("::SYNTHESIZED::")
    }
}
