import Foundation

/// A public declaration that lacks a documentation comment.
struct UndocumentedDeclaration: Hashable, Comparable, CustomStringConvertible {

    let path: String
    /// Counted from 1.
    let line: Int
    /// Counted from 1.
    let column: Int
    let name: String

    /// The declaration in the format of the compiler's messages, so that editors find the location.
    var description: String {
        "\(path):\(line):\(column): error: the public \(name) has no documentation comment"
    }

    static func < (one: Self, other: Self) -> Bool {
        (one.path, one.line, one.column, one.name) < (other.path, other.line, other.column, other.name)
    }
}

extension SymbolGraph {

    /// The symbols without a documentation comment. Symbols that implement a requirement or override a member are
    /// excluded, because the documentation of that requirement or member applies to them.
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

    /// Whether the symbol belongs to a protocol extension and is listed again for a conforming type.
    var isInherited: Bool {
        identifier.precise.contains("::SYNTHESIZED::")
    }
}
