/// A regular expression of RFC 9485 (I-Regexp), as ``JSONFilter/match(_:_:)`` uses it.
///
/// Matching follows all paths through the expression simultaneously (Thompson, Regular Expression Search Algorithm,
/// CACM 1968), so its time is at most proportional to the length of the text times the size of the expression.
package struct JSONPattern: Sendable {

    /// A step of the expression. A step that reads a character continues with the next step.
    enum Step: Sendable {
        /// Reads a character of a set.
        case character(Characters)
        /// Continues at two steps.
        case fork(Int, Int)
        /// Continues at another step.
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
    ///   - isWhole: Whether it has to match a whole text instead of a part.
    /// - Throws: A ``Mistake`` if the expression is not one of RFC 9485, or is too large.
    init(_ pattern: String, isWhole: Bool) throws(Mistake) {
        var parser = Parser(pattern)
        let expression = try parser.parse()
        guard expression.size < Self.largest else { throw Mistake("The regular expression is too large") }
        steps = Program(expression).steps
        self.isWhole = isWhole
    }

    /// The exclusive maximum size of an expression, in steps, each of which takes time for each character of a text.
    static let largest = 2_000

    /// The reason why a text is not a usable regular expression: a clause without a full stop.
    struct Mistake: Error, Equatable {
        let message: String

        init(_ message: String) {
            self.message = message
        }
    }

    /// Whether a text matches.
    ///
    /// - Parameter deadline: When to give up, with any result; `nil` never to.
    func matches(_ text: String, until deadline: ContinuousClock.Instant? = nil) -> Bool {
        var count = 0
        var current = Places(count: steps.count)
        var next = Places(count: steps.count)
        if add(0, to: &current), !isWhole { return true }
        for scalar in text.unicodeScalars {
            count &+= 1
            if let deadline, count.isMultiple(of: 64), ContinuousClock.now >= deadline { return false }
            next.removeAll()
            var isMatch = false
            for place in current.list {
                if case .character(let characters) = steps[place], characters.contains(scalar) {
                    isMatch = add(place + 1, to: &next) || isMatch
                }
            }
            if !isWhole {
                // A partial match may begin after each character.
                if isMatch || add(0, to: &next) { return true }
            } else if next.list.isEmpty {
                return false
            }
            swap(&current, &next)
        }
        return current.list.contains { if case .end = steps[$0] { true } else { false } }
    }

    /// Adds a step and all steps that can be reached from it without reading a character.
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
