#if CommandLineTool
import ArgumentParser

/// A command that takes any number of keys, such as the output of `ls`.
protocol KeyListCommand: ConsoleCommand {
    var key: [String] { get set }
}

extension GetCommand: KeyListCommand {}
extension RemoveCommand: KeyListCommand {}

/// The keys at the end of the arguments. The parser's time grows with the square of their number, so it skips them.
enum KeyList {

    /// Divides the arguments of the tool into those to parse, and the keys after them, in order.
    static func split(_ arguments: [String]) -> (parsed: ArraySlice<String>, keys: ArraySlice<String>) {
        guard let command = arguments.first, ["get", "rm"].contains(command) else { return (arguments[...], []) }
        let terminator = arguments.firstIndex(of: "--")
        let start: Int
        if let terminator {
            // No options follow the terminator. The first argument after it may be the store.
            start = terminator + 2
        } else {
            // The argument after an option may be its value; the next one is the store or a key.
            let option = arguments.lastIndex { $0.hasPrefix("-") } ?? -1
            start = option + 3
        }
        // One key is left to the parser, which requires it.
        let end = min(max(start + 1, 0), arguments.count)
        return (arguments[..<end], arguments[end...])
    }
}
#endif
