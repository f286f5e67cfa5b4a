#if CommandLineTool
import ArgumentParser

/// A command that takes any number of keys, such as all that `ls` prints.
protocol KeyListCommand: ConsoleCommand {
    /// The keys.
    var key: [String] { get set }
}

extension GetCommand: KeyListCommand {}
extension RemoveCommand: KeyListCommand {}

extension KeyListCommand {
    func adding(_ keys: ArraySlice<String>) -> Self {
        var command = self
        command.key += keys
        return command
    }
}

/// The keys at the end of a list of arguments. The parser's time grows with the square of their number, so they are left
/// out of what it parses.
enum KeyList {

    /// Divides the arguments of the tool.
    ///
    /// - Returns: What is to be parsed, and the keys behind it, which are arguments in the order in which they stand.
    static func split(_ arguments: [String]) -> (parsed: ArraySlice<String>, keys: ArraySlice<String>) {
        guard let command = arguments.first, ["get", "rm"].contains(command) else { return (arguments[...], []) }
        let terminator = arguments.firstIndex(of: "--")
        let start: Int
        if let terminator {
            // Behind it there are no options. The first argument there may be the store.
            start = terminator + 2
        } else {
            // What follows an option may be its value; what follows that is the store or a key.
            let option = arguments.lastIndex { $0.hasPrefix("-") } ?? -1
            start = option + 3
        }
        // A key is left to the parser, so that it finds one.
        let end = min(max(start + 1, 0), arguments.count)
        return (arguments[..<end], arguments[end...])
    }
}
#endif
