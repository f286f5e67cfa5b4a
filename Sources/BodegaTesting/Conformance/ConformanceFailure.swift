/// What an engine did other than its contracts say.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {

    /// One broken contract.
    public struct Violation: Sendable, CustomStringConvertible {
        /// The contract: the name of the check.
        public var contract: String
        /// What was looked at.
        public var subject: String
        /// What it should have been.
        public var expected: String
        /// What it was.
        public var actual: String

        /// Creates a violation.
        ///
        /// - Parameters:
        ///   - contract: The contract.
        ///   - subject: What was looked at.
        ///   - expected: What it should have been.
        ///   - actual: What it was.
        public init(contract: String, subject: String, expected: String, actual: String) {
            self.contract = contract
            self.subject = subject
            self.expected = expected
            self.actual = actual
        }

        /// All of it in one line.
        public var description: String {
            "\(contract): \(subject): expected \(expected), got \(actual)"
        }
    }

    /// The name of the engine.
    public var engine: String

    /// The broken contracts. Of one check, at most the first twenty.
    public var violations: [Violation]

    /// Creates a failure.
    ///
    /// - Parameters:
    ///   - engine: The name of the engine.
    ///   - violations: The broken contracts.
    public init(engine: String, violations: [Violation]) {
        self.engine = engine
        self.violations = violations
    }

    /// The engine and its violations, one a line.
    public var description: String {
        "\(engine) breaks the contracts of storage engines:"
            + violations.map { "\n- \($0)" }.joined()
    }
}
