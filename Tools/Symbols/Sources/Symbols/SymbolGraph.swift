/// The parts of a symbol graph, in the format of `swift symbolgraph-extract`, that show a module's public interface and
/// whether it is documented.
///
/// The format is that of [SymbolKit](https://github.com/swiftlang/swift-docc-symbolkit).
struct SymbolGraph: Decodable {

    struct Symbol: Decodable {

        struct Identifier: Decodable {
            let precise: String
        }

        struct Kind: Decodable {
            let displayName: String
        }

        struct Comment: Decodable {
            let lines: [Line]
        }

        struct Line: Decodable {
            let text: String
        }

        struct Location: Decodable {

            struct Position: Decodable {
                /// Counted from 0.
                let line: Int
                /// Counted from 0.
                let character: Int
            }

            let uri: String
            let position: Position
        }

        struct Fragment: Decodable {
            let spelling: String
        }

        let identifier: Identifier
        let kind: Kind
        let declarationFragments: [Fragment]
        let pathComponents: [String]
        /// Absent for symbols that the compiler derives.
        let location: Location?
        /// The comment of the symbol, or of the requirement that it implements.
        let docComment: Comment?
    }

    struct Relationship: Decodable {

        struct Origin: Decodable {
            let identifier: String
        }

        let source: String
        let target: String
        /// The name of the target if it belongs to another module.
        let targetFallback: String?
        let kind: String
        /// The requirement of a protocol that the source implements, or the member of a class that it overrides, if
        /// any.
        let sourceOrigin: Origin?
    }

    let symbols: [Symbol]
    let relationships: [Relationship]
}
