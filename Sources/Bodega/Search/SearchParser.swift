/// Reads what a user has typed into a search field, see ``SearchExpression``.
///
///     any  = all *( "OR" all )
///     all  = not *( [ "AND" ] not )
///     not  = *( "NOT" / "-" ) ( "(" any ")" / phrase / word )
struct SearchParser {
    private typealias Node = SearchExpression.Node

    private let text: [Unicode.Scalar]
    /// Whether mistakes are errors. Otherwise they are ignored.
    private let isStrict: Bool
    private let completesLastWord: Bool
    private var position = 0
    private var depth = 0

    /// Deeper than any useful expression, and far from exhausting the stack.
    private static let maximumDepth = 100

    init(_ text: String, isStrict: Bool, _ completesLastWord: Bool) {
        (self.text, self.isStrict, self.completesLastWord) = (Array(text.unicodeScalars), isStrict, completesLastWord)
    }

    mutating func expression() throws(StorageError) -> SearchExpression.Node {
        var parts: [Node] = []
        repeat {
            if let node = try any() { parts.append(node) }
            // Only a parenthesis can be left.
            if position < text.count {
                if isStrict { throw error("A parenthesis is closed that was not opened") }
                position += 1
            }
        } while position < text.count
        if isStrict, parts.isEmpty { throw error("A word or a phrase is missing") }
        return Self.joined(parts, Node.all)
    }

    private static func joined(_ parts: [Node], _ join: ([Node]) -> Node) -> Node {
        parts.count == 1 ? parts[0] : join(parts)
    }

    /// - Returns: `nil` if there is nothing but operators.
    private mutating func any() throws(StorageError) -> Node? {
        var parts: [Node] = []
        repeat {
            if let part = try all() { parts.append(part) } else if isStrict { throw missing() }
        } while take("OR")
        return parts.isEmpty ? nil : Self.joined(parts, Node.any)
    }

    private mutating func all() throws(StorageError) -> Node? {
        var parts: [Node] = []
        while true {
            let hasOperator = take("AND")
            if hasOperator, isStrict, parts.isEmpty { throw missing() }
            if let part = try not() {
                parts.append(part)
            } else if hasOperator {
                if isStrict { throw missing() }
            } else {
                break
            }
        }
        return parts.isEmpty ? nil : Self.joined(parts, Node.all)
    }

    private mutating func not() throws(StorageError) -> Node? {
        var isNegated = false
        while true {
            let isOperator = take("NOT")
            if !isOperator && !takeMinus() { break }
            isNegated.toggle()
            if isStrict, isAtEnd { throw missing() }
        }
        guard let node = try operand() else {
            if isNegated, isStrict { throw missing() }
            return nil
        }
        return isNegated ? .not(node) : node
    }

    private mutating func operand() throws(StorageError) -> Node? {
        skipSpace()
        guard position < text.count, text[position] != ")", !isAt("AND"), !isAt("OR") else { return nil }
        if text[position] == "(" { return try group() }
        if text[position] == "\"" { return try phrase() }
        let start = position
        while position < text.count, !Self.endsWord(text[position]) { position += 1 }
        let isLast = completesLastWord && position == text.count
        return .text(Self.string(text[start..<position]), isPrefix: takeStar() || isLast)
    }

    private mutating func group() throws(StorageError) -> Node? {
        // A loop instead of a recursion would keep these, too.
        guard depth < Self.maximumDepth else {
            if isStrict { throw error("Parentheses are nested too deeply") }
            position += 1
            return .all([])
        }
        let start = position
        position += 1
        depth += 1
        defer { depth -= 1 }
        let node = try any()
        skipSpace()
        if position < text.count {
            position += 1
        } else if isStrict {
            position = start
            throw error("A parenthesis is not closed")
        }
        return node ?? .all([])
    }

    private mutating func phrase() throws(StorageError) -> Node {
        let start = position
        var phrase = String.UnicodeScalarView()
        position += 1
        while position < text.count {
            if text[position] == "\"" {
                guard position + 1 < text.count, text[position + 1] == "\"" else {
                    position += 1
                    return .text(String(phrase), isPrefix: takeStar())
                }
                position += 1
            }
            phrase.append(text[position])
            position += 1
        }
        if isStrict {
            position = start
            throw error("A quotation mark is not closed")
        }
        return .text(String(phrase), isPrefix: completesLastWord)
    }

    // MARK: Characters

    private static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }

    private static func endsWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || "()\"*".unicodeScalars.contains(scalar)
    }

    private mutating func skipSpace() {
        while position < text.count, text[position].properties.isWhitespace { position += 1 }
    }

    private var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return position == text.count
        }
    }

    /// Whether an operator is next: the word, alone.
    private func isAt(_ name: String) -> Bool {
        let end = position + name.unicodeScalars.count
        guard end <= text.count, text[position..<end].elementsEqual(name.unicodeScalars) else { return false }
        return end == text.count || Self.endsWord(text[end]) && text[end] != "*"
    }

    private mutating func take(_ name: String) -> Bool {
        skipSpace()
        guard isAt(name) else { return false }
        position += name.unicodeScalars.count
        return true
    }

    /// Takes a minus sign before a word.
    private mutating func takeMinus() -> Bool {
        skipSpace()
        guard position + 1 < text.count, text[position] == "-", !text[position + 1].properties.isWhitespace,
            text[position + 1] != ")"
        else { return false }
        position += 1
        return true
    }

    private mutating func takeStar() -> Bool {
        guard position < text.count, text[position] == "*" else { return false }
        while position < text.count, text[position] == "*" { position += 1 }
        return true
    }

    // MARK: Errors

    private func missing() -> StorageError { error("A word or a phrase is missing") }

    private func error(_ message: String) -> StorageError {
        let (before, after) = (Self.string(text[..<position]), Self.string(text[position...]))
        return StorageError(
            .invalidArgument, "\(message), at character \(position + 1) of the search: \(before)⟨here⟩\(after)")
    }
}
