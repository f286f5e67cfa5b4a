import Bodega

/// The path to a value in nested JSON objects: member names, outermost first.
struct JSONPath: Equatable, Sendable, CustomStringConvertible {
    let names: [String]
    /// The path as the user wrote it.
    let description: String

    /// Reads a path such as `id` or `owner.id`. A backslash escapes the dot, comma or backslash that follows, so
    /// `a\.b` is the member `a.b`.
    ///
    /// - Throws: A ``ToolError`` if it is empty, or a backslash escapes nothing.
    init(parsing text: String) throws {
        var names = [""]
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if isEscaped {
                guard [".", ",", "\\"].contains(scalar) else {
                    throw ToolError(
                        .usage, "\"\(text)\": a backslash escapes a dot, a comma or a backslash. Write \\\\ for one.")
                }
                names[names.count - 1].unicodeScalars.append(scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "." {
                names.append("")
            } else {
                names[names.count - 1].unicodeScalars.append(scalar)
            }
        }
        guard !text.isEmpty, !isEscaped else {
            throw ToolError(
                .usage, "\"\(text)\" is not a path. Write member names separated by dots, such as owner.name.")
        }
        self.names = names
        self.description = text
    }
}

extension JSONQuery {
    /// Creates a query from a path of names.
    init(_ path: JSONPath) { self.init(selectors: path.names.map(Selector.name)) }
}
