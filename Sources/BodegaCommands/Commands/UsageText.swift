#if CommandLineTool
/// Wraps the usage lines in the parser's messages, which the parser does not wrap.
enum UsageText {

    /// The maximum length of a line.
    private static let columns = 80

    /// Wraps the usage lines of a message of the parser.
    static func wrapped(_ message: String) -> String {
        message.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.lowercased().hasPrefix("usage: ") ? broken(line) : String(line)
        }.joined(separator: "\n")
    }

    private static func broken(_ line: Substring) -> String {
        let indentation = String(repeating: " ", count: "Usage: ".count + 2)
        var lines: [String] = []
        var current = ""
        for word in words(in: line) {
            if !current.isEmpty, current.count + 1 + word.count > columns {
                lines.append(current)
                current = indentation + word
            } else {
                current += current.isEmpty ? word : " " + word
            }
        }
        return (lines + [current]).joined(separator: "\n")
    }

    /// The words of a line. Text in brackets is one word.
    private static func words(in line: Substring) -> [String] {
        var depth = 0
        return line.split { character in
            if character == "[" { depth += 1 }
            if character == "]" { depth -= 1 }
            return character == " " && depth == 0
        }.map(String.init)
    }
}
#endif
