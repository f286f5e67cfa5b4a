import RecordCoder

/// Reads filter expressions: the conditions of RFC 9535, section 2.3.5, with `@` for the item.
///
/// Supported are `||`, `&&`, `!`, parentheses; the six comparisons; existence tests; queries of names and indexes, such
/// as `@.authors[0]['last name']`; literals; and the functions `length`, `match` and `search`, the last two with a
/// literal regular expression. Not supported are queries with several results (`*`, `..`, slices, nested filters), `$`,
/// `count` and `value`.
package struct JSONFilterParser {
    private let text: [Unicode.Scalar]
    private var position = 0
    private var depth = 0
    /// A hundred pairs of parentheses in the filter: more than in any useful expression, and far from exhausting the
    /// stack.
    private static let maximumDepth = 101

    private init(_ text: String) {
        self.text = Array(text.unicodeScalars)
    }

    /// Reads an expression.
    ///
    /// - Throws: ``StorageError/Code/invalidArgument`` that shows where the expression is invalid.
    package static func parse(_ text: String) throws(StorageError) -> JSONFilter {
        var parser = JSONFilterParser(text)
        let filter = try parser.or()
        parser.skipSpace()
        if parser.position < parser.text.count {
            throw parser.error(parser.startsWith("=") ? "Equality is written ==" : "Nothing should follow here")
        }
        return filter
    }

    private mutating func or() throws(StorageError) -> JSONFilter {
        depth += 1
        defer { depth -= 1 }
        if depth > Self.maximumDepth { throw error("Parentheses are nested too deeply") }
        var filters = [try and()]
        while take("||") { filters.append(try and()) }
        return Self.balanced(filters[...], JSONFilter.or)
    }

    private mutating func and() throws(StorageError) -> JSONFilter {
        var filters = [try basic()]
        while take("&&") { filters.append(try basic()) }
        return Self.balanced(filters[...], JSONFilter.and)
    }

    /// Joins filters so that the depth is the logarithm of their number: programs write thousands of them, and a filter
    /// is evaluated by recursion.
    private static func balanced(
        _ filters: ArraySlice<JSONFilter>, _ join: (JSONFilter, JSONFilter) -> JSONFilter
    ) -> JSONFilter {
        if filters.count == 1 { return filters[filters.startIndex] }
        let middle = filters.startIndex + filters.count / 2
        return join(balanced(filters[..<middle], join), balanced(filters[middle...], join))
    }

    private mutating func basic() throws(StorageError) -> JSONFilter {
        skipSpace()
        if !startsWith("!="), take("!") {
            if take("(") { return .not(try closed(or())) }
            return .not(try test())
        }
        if take("(") { return try closed(or()) }
        return try comparisonOrTest()
    }

    private mutating func closed(_ filter: JSONFilter) throws(StorageError) -> JSONFilter {
        guard take(")") else { throw error("A closing parenthesis is missing") }
        return filter
    }

    /// Reads the operand of an exclamation mark.
    private mutating func test() throws(StorageError) -> JSONFilter {
        let start = position
        let filter = try comparisonOrTest()
        if case .compare = filter {
            position = start
            throw error("Put a comparison into parentheses to negate it")
        }
        return filter
    }

    private mutating func comparisonOrTest() throws(StorageError) -> JSONFilter {
        skipSpace()
        for (name, isWhole) in [("match", true), ("search", false)] where startsWith(name + "(") {
            return try match(name, isWhole: isWhole)
        }
        let left = try operand()
        skipSpace()
        if let comparison = JSONFilter.Comparison.allCases.first(where: { take($0.rawValue) }) {
            return .compare(left, comparison, try operand())
        }
        guard case .query(let query) = left else {
            if startsWith("=") { throw error("Equality is written ==") }
            throw error("A comparison is missing: one of == != < <= > >=")
        }
        return .exists(query)
    }

    private mutating func match(_ name: String, isWhole: Bool) throws(StorageError) -> JSONFilter {
        position += name.unicodeScalars.count + 1
        let subject = try operand()
        guard take(",") else { throw error("\(name) takes two arguments") }
        skipSpace()
        let start = position
        guard case .literal(.string(let pattern)) = try operand() else {
            position = start
            throw error("The regular expression has to be a string in quotes")
        }
        let compiled: JSONPattern
        do throws(JSONPattern.Mistake) {
            compiled = try JSONPattern(pattern, isWhole: isWhole)
        } catch {
            // By RFC 9535 such an expression matches nothing, which would hide the mistake.
            position = start
            throw self.error(error.message)
        }
        guard take(")") else { throw error("A closing parenthesis is missing") }
        return .match(subject, compiled)
    }

    private mutating func operand() throws(StorageError) -> JSONFilter.Operand {
        skipSpace()
        if startsWith("length(") {
            position += "length(".count
            depth += 1
            defer { depth -= 1 }
            if depth > Self.maximumDepth { throw error("Parentheses are nested too deeply") }
            let operand = try operand()
            guard take(")") else { throw error("A closing parenthesis is missing") }
            return .length(operand)
        }
        guard position < text.count else { throw error("A value is missing at the end") }
        switch text[position] {
        case "@":
            position += 1
            return .query(try query())
        case "$": throw error("$ is not supported; write @ for the item")
        case "'", "\"": return .literal(.string(try string()))
        case "-", "0"..."9": return .literal(try number())
        default:
            for (word, value) in [("true", JSONValue.bool(true)), ("false", .bool(false)), ("null", .null)]
            where takeWord(word) {
                return .literal(value)
            }
            throw error("A value is expected: @.name, a number, a string in quotes, true, false or null")
        }
    }

    // MARK: Queries

    private mutating func query() throws(StorageError) -> JSONQuery {
        var query = JSONQuery(selectors: [])
        while position < text.count {
            // Blanks may precede a segment, but are not a part of the query if none follows.
            let end = position
            skipSpace()
            guard startsWith(".") || startsWith("[") else {
                position = end
                break
            }
            if startsWith("..") { throw error("Queries with several results are not supported") }
            if text[position] == "." {
                position += 1
                query.selectors.append(.name(try name()))
            } else {
                position += 1
                query.selectors.append(try selector())
                guard take("]") else { throw error("A closing bracket is missing, or there are several selectors") }
            }
        }
        return query
    }

    private mutating func name() throws(StorageError) -> String {
        let start = position
        while position < text.count, Self.isNameCharacter(text[position], isFirst: position == start) { position += 1 }
        if position == start {
            throw error(startsWith("*") ? "Queries with several results are not supported" : "A name is missing")
        }
        if startsWith("-") { throw error("Write a name with other characters than letters and digits as @['a-b']") }
        return String(String.UnicodeScalarView(text[start..<position]))
    }

    private mutating func selector() throws(StorageError) -> JSONQuery.Selector {
        skipSpace()
        if startsWith("'") || startsWith("\"") { return .name(try string()) }
        let start = position
        if startsWith("-") { position += 1 }
        while position < text.count, "0"..."9" ~= text[position] { position += 1 }
        let digits = String(String.UnicodeScalarView(text[start..<position]))
        // The largest of I-JSON, RFC 7493.
        guard let index = Int(digits), digits == String(index), index.magnitude < 1 << 53 else {
            position = start
            throw error("A name in quotes or an index is expected; queries with several results are not supported")
        }
        return .index(index)
    }

    private static func isNameCharacter(_ scalar: Unicode.Scalar, isFirst: Bool) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "_": true
        case "0"..."9": !isFirst
        default: scalar.value >= 0x80
        }
    }
}

// MARK: Literals and tokens

extension JSONFilterParser {

    private mutating func number() throws(StorageError) -> JSONValue {
        let start = position
        while position < text.count, "0"..."9" ~= text[position] || "+-.eE".unicodeScalars.contains(text[position]) {
            position += 1
        }
        let text = String(String.UnicodeScalarView(text[start..<position]))
        guard let value = Self.literal(text) else {
            position = start
            throw error("\"\(text)\" is not a number")
        }
        return value
    }

    private mutating func string() throws(StorageError) -> String {
        let start = position
        let quote = text[position]
        position += 1
        var content = ""
        while position < text.count, text[position] != quote {
            if text[position] == "\\", position + 1 < text.count {
                let escaped = text[position + 1]
                if ["'", "\""].contains(escaped), escaped != quote {
                    throw error("The quotation mark \(escaped) needs no escape between two \(quote)")
                }
                // JSON has no escape for a single quotation mark.
                if escaped == "'" {
                    content += "'"
                } else {
                    content.unicodeScalars += text[position...position + 1]
                }
                position += 2
            } else {
                content += text[position] == "\"" ? "\\\"" : String(text[position])
                position += 1
            }
        }
        guard take(String(quote)) else {
            position = start
            throw error("A string has no end")
        }
        guard case .string(let string)? = Self.literal("\"" + content + "\"") else {
            position = start
            throw error("A string has an escape that JSON does not define")
        }
        return string
    }

    /// The value of a JSON text, `nil` if it is not JSON.
    private static func literal(_ text: String) -> JSONValue? {
        Array(text.utf8).withUnsafeBytes { bytes in
            JSONScanner.document(bytes) == 0..<bytes.count ? JSONValue(bytes, 0..<bytes.count) : nil
        }
    }

    private mutating func skipSpace() {
        while position < text.count, [" ", "\t", "\n", "\r"].contains(text[position]) { position += 1 }
    }

    private func startsWith(_ token: String) -> Bool {
        text[min(position, text.count)...].starts(with: token.unicodeScalars)
    }

    private mutating func take(_ token: String) -> Bool {
        skipSpace()
        guard startsWith(token) else { return false }
        position += token.unicodeScalars.count
        return true
    }

    private mutating func takeWord(_ word: String) -> Bool {
        let end = position + word.unicodeScalars.count
        guard startsWith(word), end == text.count || !Self.isNameCharacter(text[end], isFirst: false) else {
            return false
        }
        position = end
        return true
    }

    private func error(_ message: String) -> StorageError {
        let before = String(String.UnicodeScalarView(text[..<min(position, text.count)]))
        let after = String(String.UnicodeScalarView(text[min(position, text.count)...]))
        return StorageError(.invalidArgument, "The condition is wrong: \(message).\n  \(before) >>> \(after)")
    }
}
