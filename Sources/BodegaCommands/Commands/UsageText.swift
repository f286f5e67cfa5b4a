#if CommandLineTool
/// The text of the parser's messages, which leaves the line with a command's arguments as long as it is.
enum UsageText {

    /// Breaks the lines that show how a command is used.
    ///
    /// - Parameters:
    ///   - message: A message of the parser.
    ///   - columns: How long a line may be.
    static func wrapped(_ message: String, columns: Int = 80) -> String {
        message.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.lowercased().hasPrefix("usage: ") ? broken(line, columns) : String(line)
        }.joined(separator: "\n")
    }

    private static func broken(_ line: Substring, _ columns: Int) -> String {
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

    /// The words of a line. What is in brackets is one.
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
