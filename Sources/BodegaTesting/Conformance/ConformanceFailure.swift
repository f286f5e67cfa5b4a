/// An error that lists the contracts that an engine violates.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {

    /// One violated contract.
    public struct Violation: Sendable, CustomStringConvertible {
        /// The contract: the name of the check.
        public var contract: String
        /// The subject that was compared.
        public var subject: String
        /// The expected value.
        public var expected: String
        /// The actual value.
        public var actual: String

        /// Creates a violation.
        ///
        /// - Parameters:
        ///   - contract: The contract.
        ///   - subject: The subject that was compared.
        ///   - expected: The expected value.
        ///   - actual: The actual value.
        public init(contract: String, subject: String, expected: String, actual: String) {
            self.contract = contract
            self.subject = subject
            self.expected = expected
            self.actual = actual
        }

        /// All of it on one line.
        public var description: String { "\(contract): \(subject): expected \(expected), got \(actual)" }
    }

    /// The name of the engine.
    public var engine: String

    /// The violated contracts, at most the first twenty of each check.
    public var violations: [Violation]

    /// Creates a failure.
    ///
    /// - Parameters:
    ///   - engine: The name of the engine.
    ///   - violations: The violated contracts.
    public init(engine: String, violations: [Violation]) {
        self.engine = engine
        self.violations = violations
    }

    /// The engine and its violations, one on each line.
    public var description: String {
        "\(engine) violates the contracts of storage engines:"
            + violations.map { "\n- \($0)" }.joined()
    }
}
