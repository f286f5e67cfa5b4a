/// What to look for in texts: words, phrases and beginnings of words, combined with "and", "or" and "not".
///
/// ```swift
/// let expression = SearchExpression("swift concurren* -java")
/// let same = SearchExpression.all([.words("swift"), .prefix("concurren"), .not(.words("java"))])
/// let page = try await notes.fetch(Query<Note>().searching(expression), limit: 20)
/// ```
///
/// ## What users type
/// - Several words find texts that have all of them, in any order and also in different properties of an object.
/// - `"two words"` finds them one after the other. A quotation mark in a phrase is written twice.
/// - `swi*` finds words that begin with "swi", and `"swift conc"*` a phrase whose last word does.
/// - `OR` between words or phrases finds texts that have one of them, `AND` those that have both, and `NOT` or `-`
///   before one of them those that do not have it. `OR` binds less than `AND`, which is the same as no operator.
///   Parentheses group. The operators are in capital letters.
/// - A word with other characters inside is a phrase of its parts: `wi-fi` finds "Wi-Fi", and "wi fi".
///
/// A part without any letter or digit, such as `&`, has no effect, and an expression that only has such parts matches
/// all texts.
public struct SearchExpression: Hashable, Sendable {
    package indirect enum Node: Hashable, Sendable {
        case text(String, isPrefix: Bool)
        case all([Node])
        case any([Node])
        case not(Node)
    }

    package var node: Node

    package init(_ node: Node) { self.node = node }

    /// Creates an expression from a text that a user has typed into a search field.
    ///
    /// Each text is an expression: a quotation mark or a parenthesis that is not closed reaches to the end, and an
    /// operator without a word after or before it is ignored. A text without any word, such as one of punctuation or
    /// symbols alone, matches everything, as an empty one does.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - completingLastWord: Whether the last word, if nothing follows it, is the beginning of one, so that a search
    ///     while the user types finds what is meant.
    public init(_ text: String, completingLastWord: Bool = false) {
        var parser = SearchParser(text, isStrict: false, completingLastWord)
        do throws(StorageError) {
            node = try parser.expression()
        } catch {
            preconditionFailure("A lenient parser accepts each text.")
        }
    }

    /// Creates an expression from a text in which mistakes are errors.
    ///
    /// - Throws: ``StorageError/Code/invalidArgument`` with the place of the mistake.
    public init(parsing text: String) throws(StorageError) {
        var parser = SearchParser(text, isStrict: true, false)
        node = try parser.expression()
    }

    /// An expression for texts that have all words of a text, in any order. Operators in it are words.
    public static func words(_ text: String) -> SearchExpression {
        let words = text.split(whereSeparator: \.isWhitespace).map { Node.text(String($0), isPrefix: false) }
        return SearchExpression(words.count == 1 ? words[0] : .all(words))
    }

    /// An expression for texts that have the words of a text, one after the other.
    public static func phrase(_ text: String) -> SearchExpression { SearchExpression(.text(text, isPrefix: false)) }

    /// An expression for texts that have the words of a text, one after the other, of which the last one may be the
    /// beginning of a word.
    public static func prefix(_ text: String) -> SearchExpression { SearchExpression(.text(text, isPrefix: true)) }

    /// An expression for texts that match all of several expressions; all texts match none of them.
    public static func all(_ expressions: [SearchExpression]) -> SearchExpression {
        // One that is built step by step is flat, too.
        SearchExpression(.all(expressions.flatMap { if case .all(let parts) = $0.node { parts } else { [$0.node] } }))
    }

    /// An expression for texts that match at least one of several expressions; no text matches none of them.
    public static func any(_ expressions: [SearchExpression]) -> SearchExpression {
        SearchExpression(.any(expressions.flatMap { if case .any(let parts) = $0.node { parts } else { [$0.node] } }))
    }

    /// An expression for texts that do not match an expression.
    ///
    /// The negation of a negation is the expression itself.
    public static func not(_ expression: SearchExpression) -> SearchExpression {
        if case .not(let node) = expression.node { return SearchExpression(node) }
        return SearchExpression(.not(expression.node))
    }
}
