// Reads symbol graphs, given as arguments after a command. `lint` fails if a public declaration in them has no
// documentation comment. `interface` prints all public declarations.

import Foundation

var undocumented: Set<UndocumentedDeclaration> = []
var interface: Set<String> = []

for path in CommandLine.arguments.dropFirst(2) {
    do {
        let graph = try JSONDecoder().decode(SymbolGraph.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        undocumented.formUnion(graph.undocumentedDeclarations)
        interface.formUnion(graph.interface)
    } catch {
        FileHandle.standardError.write(Data("\(path): error: the symbol graph can't be read: \(error)\n".utf8))
        exit(2)
    }
}

switch CommandLine.arguments.dropFirst().first {
case "lint":
    for declaration in undocumented.sorted() { print(declaration) }
    exit(undocumented.isEmpty ? 0 : 1)
case "interface":
    for line in interface.sorted() { print(line) }
default:
    exit(64)
}
