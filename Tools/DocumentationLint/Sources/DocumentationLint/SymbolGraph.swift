/// The parts of a symbol graph, as `swift symbolgraph-extract` writes it, that tell whether a declaration is documented.
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

        let identifier: Identifier
        let kind: Kind
        let pathComponents: [String]
        /// Absent for what the compiler derives.
        let location: Location?
        /// The symbol's own, or the one of the requirement that it implements.
        let docComment: Comment?
    }

    struct Relationship: Decodable {

        struct Origin: Decodable {
            let identifier: String
        }

        let source: String
        let kind: String
        /// Present if the source implements a requirement of a protocol or overrides a member of a class: that.
        let sourceOrigin: Origin?
    }

    let symbols: [Symbol]
    let relationships: [Relationship]
}
