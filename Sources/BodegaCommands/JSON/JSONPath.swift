/// The path to a value in nested JSON objects: member names, outermost first.
package struct JSONPath: Equatable, Sendable, CustomStringConvertible {
    /// The names.
    package let names: [String]
    /// The path as the user wrote it.
    package let description: String

    /// Reads a path such as `id` or `owner.id`. A backslash escapes the dot or backslash that follows, so
    /// `a\.b` is the member `a.b`.
    ///
    /// - Parameter text: The path.
    /// - Throws: A ``ToolError`` if it is empty or ends in a backslash.
    package init(parsing text: String) throws {
        var names = [""]
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if isEscaped {
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

extension JSONScanner {

    /// Moves past a value and finds another value in it.
    ///
    /// - Parameter names: The path from the value to the one to find.
    /// - Returns: The range of the value, `nil` if there is none. Of members with equal names the last one counts.
    mutating func skipValue(finding names: ArraySlice<String>) throws(JSONScanError) -> Range<Int>? {
        guard let name = names.first else { return try skipValue() }
        skipWhitespace()
        guard try peek() == UInt8(ascii: "{") else {
            try skipValue()
            return nil
        }
        position += 1
        skipWhitespace()
        if try peek() == UInt8(ascii: "}") {
            position += 1
            return nil
        }
        var found: Range<Int>?
        while true {
            if try skipName(comparingWith: name) {
                found = try skipValue(finding: names.dropFirst())
            } else {
                try skipValue()
            }
            skipWhitespace()
            if try peek() == UInt8(ascii: ",") {
                position += 1
            } else {
                try expect(UInt8(ascii: "}"))
                return found
            }
        }
    }

    /// Moves past the name of a member and the colon.
    ///
    /// - Returns: Whether the name is the given one.
    mutating func skipName(comparingWith name: String) throws(JSONScanError) -> Bool {
        let content = UnsafeRawBufferPointer(rebasing: bytes[try skipString()])
        try expect(UInt8(ascii: ":"))
        return Self.isName(content, name)
    }

    /// Whether the content of a string is a certain name.
    static func isName(_ content: UnsafeRawBufferPointer, _ name: String) -> Bool {
        if content.contains(UInt8(ascii: "\\")) {
            // Compared as scalars: two encodings of "é" are two names.
            return JSONString.decode(content).map { $0.unicodeScalars.elementsEqual(name.unicodeScalars) } ?? false
        }
        return content.count == name.utf8.count && content.elementsEqual(name.utf8)
    }
}
