/// A regular expression of RFC 9485 (I-Regexp), as ``JSONFilter/match(_:_:)`` uses it.
///
/// It is matched by following all ways through the expression at the same time (Thompson, Regular Expression Search
/// Algorithm, CACM 1968), so the time grows with the length of the text times the size of the expression, and never faster.
struct JSONPattern: Sendable {

    /// A step of the expression. Steps that read a character go on with the next one.
    enum Step: Sendable {
        /// Reads a character of a set.
        case character(Characters)
        /// Goes on in two places.
        case fork(Int, Int)
        /// Goes on in another place.
        case jump(Int)
        /// The expression has been matched.
        case end
    }

    private let steps: [Step]
    private let isWhole: Bool

    /// Compiles an expression.
    ///
    /// - Parameters:
    ///   - pattern: The expression.
    ///   - isWhole: Whether it has to match all of a text, and not a part.
    /// - Throws: A ``Mistake`` if the expression is not one of RFC 9485, or is too large.
    init(_ pattern: String, isWhole: Bool) throws(Mistake) {
        var parser = Parser(pattern)
        let expression = try parser.parse()
        guard expression.size < Self.largest else { throw Mistake("The regular expression is too large") }
        steps = Program(expression).steps
        self.isWhole = isWhole
    }

    /// The size that an expression must stay below, in steps: each takes time for each character of a text.
    static let largest = 2_000

    /// Why a text is no regular expression that can be used: a clause without a full stop.
    struct Mistake: Error, Equatable {
        let message: String

        init(_ message: String) {
            self.message = message
        }
    }

    /// Whether a text matches.
    func matches(_ text: String) -> Bool {
        var current = Places(count: steps.count)
        var next = Places(count: steps.count)
        if add(0, to: &current), !isWhole { return true }
        for scalar in text.unicodeScalars {
            next.removeAll()
            var isMatch = false
            for place in current.list {
                if case .character(let characters) = steps[place], characters.contains(scalar) {
                    isMatch = add(place + 1, to: &next) || isMatch
                }
            }
            if !isWhole {
                // A part may begin behind each character.
                if isMatch || add(0, to: &next) { return true }
            } else if next.list.isEmpty {
                return false
            }
            swap(&current, &next)
        }
        return current.list.contains { if case .end = steps[$0] { true } else { false } }
    }

    /// Adds a place and all that can be reached from it without reading.
    ///
    /// - Returns: Whether the end is among them.
    private func add(_ start: Int, to places: inout Places) -> Bool {
        var isAtEnd = false
        var open = [start]
        while let place = open.popLast() {
            guard places.insert(place) else { continue }
            switch steps[place] {
            case .character: break
            case .fork(let first, let second): open += [second, first]
            case .jump(let target): open.append(target)
            case .end: isAtEnd = true
            }
        }
        return isAtEnd
    }

    /// A set of places in the expression, which is emptied in constant time.
    private struct Places {
        private(set) var list: [Int] = []
        private var marks: [Int]
        private var round = 1

        init(count: Int) {
            marks = Array(repeating: 0, count: count)
        }

        mutating func insert(_ place: Int) -> Bool {
            if marks[place] == round { return false }
            marks[place] = round
            list.append(place)
            return true
        }

        mutating func removeAll() {
            list.removeAll(keepingCapacity: true)
            round += 1
        }
    }
}
