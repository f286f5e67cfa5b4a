extension JSONPattern {

    /// A parsed regular expression.
    indirect enum Expression {
        case characters(Characters)
        case sequence([Expression])
        case choice([Expression])
        /// The expression with its minimum and maximum count; `nil` for no maximum.
        case repetition(Expression, Int, Int?)

        /// The number of steps and of the parts of their sets, at most ``JSONPattern/largest``. An empty part counts as
        /// one, so that many repetitions of an empty part are too large as well.
        var size: Int {
            let size: Int
            switch self {
            case .characters(let characters): size = max(characters.size, 1)
            case .sequence(let parts) where parts.count == 1: size = parts[0].size
            case .sequence(let parts): size = parts.reduce(1) { min($0 + $1.size, JSONPattern.largest) }
            case .choice(let parts): size = parts.reduce(1) { min($0 + $1.size + 2, JSONPattern.largest) }
            case .repetition(let part, let least, let most):
                // The product can't overflow: the parser limits the numbers.
                size = (part.size + 1) * max(least, most ?? least + 1) + 1
            }
            return min(size, JSONPattern.largest)
        }
    }

    /// The steps of a compiled expression.
    struct Program {
        private(set) var steps: [Step] = []

        init(_ expression: Expression) {
            add(expression)
            steps.append(.end)
        }

        private mutating func add(_ expression: Expression) {
            switch expression {
            case .characters(let characters): steps.append(.character(characters))
            case .sequence(let parts): for part in parts { add(part) }
            case .choice(let parts): addChoice(parts[...])
            case .repetition(let part, let least, let most):
                for _ in 0..<least { add(part) }
                if let most { addOptional(part, most - least) } else { addLoop(part) }
            }
        }

        private mutating func addChoice(_ parts: ArraySlice<Expression>) {
            var jumps: [Int] = []
            for part in parts.dropLast() {
                let fork = steps.count
                steps.append(.fork(0, 0))
                add(part)
                jumps.append(steps.count)
                steps.append(.jump(0))
                steps[fork] = .fork(fork + 1, steps.count)
            }
            if let last = parts.last { add(last) }
            for jump in jumps { steps[jump] = .jump(steps.count) }
        }

        private mutating func addLoop(_ part: Expression) {
            let fork = steps.count
            steps.append(.fork(0, 0))
            add(part)
            steps.append(.jump(fork))
            steps[fork] = .fork(fork + 1, steps.count)
        }

        private mutating func addOptional(_ part: Expression, _ count: Int) {
            var forks: [Int] = []
            for _ in 0..<count {
                forks.append(steps.count)
                steps.append(.fork(0, 0))
                add(part)
            }
            for fork in forks { steps[fork] = .fork(fork + 1, steps.count) }
        }
    }
}
