// Reads symbol graphs, given as arguments, and fails if a public declaration in them has no documentation comment.

import Foundation

var undocumented: Set<UndocumentedDeclaration> = []

for path in CommandLine.arguments.dropFirst() {
    do {
        let graph = try JSONDecoder().decode(SymbolGraph.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        undocumented.formUnion(graph.undocumentedDeclarations)
    } catch {
        FileHandle.standardError.write(Data("\(path): error: the symbol graph can't be read: \(error)\n".utf8))
        exit(2)
    }
}

for declaration in undocumented.sorted() {
    print(declaration)
}
exit(undocumented.isEmpty ? 0 : 1)
