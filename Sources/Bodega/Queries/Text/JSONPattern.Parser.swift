extension JSONPattern {

    /// Parses the grammar of RFC 9485, section 4.
    struct Parser {
        private let text: [Unicode.Scalar]
        private var position = 0
        private var depth = 0

        init(_ text: String) {
            self.text = Array(text.unicodeScalars)
        }

        private var next: Unicode.Scalar? { position < text.count ? text[position] : nil }

        mutating func parse() throws(Mistake) -> Expression {
            let expression = try choice()
            if next != nil { throw Mistake("A closing parenthesis in the regular expression has no opening one") }
            return expression
        }

        private mutating func choice() throws(Mistake) -> Expression {
            depth += 1
            defer { depth -= 1 }
            // Deeper than any useful expression, and far from exhausting the stack.
            if depth > 100 { throw Mistake("Parentheses are nested too deeply in the regular expression") }
            var branches = [try branch()]
            while take("|") { branches.append(try branch()) }
            return branches.count == 1 ? branches[0] : .choice(branches)
        }

        private mutating func branch() throws(Mistake) -> Expression {
            var pieces: [Expression] = []
            while let scalar = next, scalar != "|", scalar != ")" {
                pieces.append(try quantified(atom()))
            }
            return .sequence(pieces)
        }

        private mutating func atom() throws(Mistake) -> Expression {
            guard let scalar = next else { throw Mistake("The regular expression ends too early") }
            position += 1
            switch scalar {
            case "(":
                let expression = try choice()
                guard take(")") else { throw Mistake("A parenthesis is not closed in the regular expression") }
                return expression
            case ".": return .characters(.any)
            case "[": return .characters(try set())
            case "\\": return .characters(try escape().characters)
            case "*", "+", "?", "{", "}", "]":
                throw Mistake("Write \\\(scalar) for the character \(scalar) in a regular expression")
            // ^ and $ are ordinary characters: RFC 9485 has no anchors.
            default: return .characters(Characters(scalar))
            }
        }

        private mutating func quantified(_ atom: Expression) throws(Mistake) -> Expression {
            if take("*") { return .repetition(atom, 0, nil) }
            if take("+") { return .repetition(atom, 1, nil) }
            if take("?") { return .repetition(atom, 0, 1) }
            guard take("{") else { return atom }
            let least = try number()
            var most: Int? = least
            if take(",") { most = next == "}" ? nil : try number() }
            guard take("}"), most ?? least >= least else {
                throw Mistake("A quantifier in a regular expression is {2}, {2,} or {2,5}")
            }
            return .repetition(atom, least, most)
        }

        private mutating func number() throws(Mistake) -> Int {
            var number: Int?
            while let scalar = next, "0"..."9" ~= scalar {
                position += 1
                // Larger numbers are too large in any case.
                number = min((number ?? 0) * 10 + Int(scalar.value - 48), JSONPattern.largest)
            }
            guard let number else { throw Mistake("A quantifier in a regular expression is {2}, {2,} or {2,5}") }
            return number
        }

        private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
            guard next == scalar else { return false }
            position += 1
            return true
        }
    }
}

// MARK: Sets of characters

extension JSONPattern.Parser {

    /// The meaning of an escape.
    private enum Escape {
        case scalar(Unicode.Scalar)
        case categories(JSONPattern.Characters.Part)

        var characters: JSONPattern.Characters {
            switch self {
            case .scalar(let scalar): JSONPattern.Characters(scalar)
            case .categories(let part): JSONPattern.Characters(parts: [part])
            }
        }
    }

    private mutating func escape() throws(JSONPattern.Mistake) -> Escape {
        guard let scalar = next else { throw JSONPattern.Mistake("The regular expression ends with a backslash") }
        position += 1
        switch scalar {
        case "n": return .scalar("\n")
        case "r": return .scalar("\r")
        case "t": return .scalar("\t")
        case "(", ")", "*", "+", "-", ".", "?", "[", "\\", "]", "^", "{", "|", "}": return .scalar(scalar)
        case "p", "P": return .categories(.categories(try categories(), isNegated: scalar == "P"))
        default:
            throw JSONPattern.Mistake(
                "RFC 9485 has no \\\(scalar) in regular expressions; digits are [0-9] or \\p{Nd}, spaces [ \\t\\r\\n]")
        }
    }

    private mutating func categories() throws(JSONPattern.Mistake) -> Set<Unicode.GeneralCategory> {
        var name = ""
        if take("{") {
            while let scalar = next, scalar != "}", name.utf8.count < 3 {
                name.unicodeScalars.append(scalar)
                position += 1
            }
            if take("}"), !name.isEmpty {
                let names = JSONPattern.categories.keys.filter { $0 == name || $0.prefix(1) == name }
                if !names.isEmpty { return Set(names.compactMap { JSONPattern.categories[$0] }) }
            }
        }
        throw JSONPattern.Mistake(
            "In a regular expression, \\p needs a Unicode category, such as \\p{L} or \\p{Lu}")
    }

    /// Reads a set after its opening bracket.
    private mutating func set() throws(JSONPattern.Mistake) -> JSONPattern.Characters {
        let isNegated = take("^")
        var parts: [JSONPattern.Characters.Part] = []
        if take("-") { parts.append(.range("-"..."-")) }
        while let scalar = next, scalar != "]" {
            if scalar == "-" {
                position += 1
                guard next == "]" else { throw Self.strayHyphen }
                parts.append(.range("-"..."-"))
            } else {
                parts.append(try element())
            }
        }
        guard take("]"), !parts.isEmpty else {
            throw JSONPattern.Mistake("A bracket is empty or is not closed in the regular expression")
        }
        return JSONPattern.Characters(parts: parts, isNegated: isNegated)
    }

    /// Reads a character, a range or an escape in brackets.
    private mutating func element() throws(JSONPattern.Mistake) -> JSONPattern.Characters.Part {
        let first: Unicode.Scalar
        switch try character() {
        case .categories(let part): return part
        case .scalar(let scalar): first = scalar
        }
        // A hyphen before the closing bracket is literal.
        guard next == "-", position + 1 < text.count, text[position + 1] != "]" else { return .range(first...first) }
        position += 1
        guard case .scalar(let last) = try character(), first <= last else {
            throw JSONPattern.Mistake(
                "A range of characters in the regular expression has no end, or an end before its start")
        }
        return .range(first...last)
    }

    private mutating func character() throws(JSONPattern.Mistake) -> Escape {
        guard let scalar = next else { throw JSONPattern.Mistake("A bracket is not closed in the regular expression") }
        position += 1
        switch scalar {
        case "\\": return try escape()
        case "-": throw Self.strayHyphen
        case "[": throw JSONPattern.Mistake("Write \\[ for a bracket in brackets in a regular expression")
        default: return .scalar(scalar)
        }
    }

    private static let strayHyphen = JSONPattern.Mistake(
        "Write \\- for a hyphen that is neither first nor last in brackets in a regular expression")
}
