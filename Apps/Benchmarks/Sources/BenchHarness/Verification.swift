/// A side did not do its work, so its time would be meaningless.
package struct VerificationFailure: Error, CustomStringConvertible {
    /// The expected and the found value.
    package let description: String

    /// Creates a failure.
    package init(_ description: String) {
        self.description = description
    }
}

/// Throws if two values differ, which ends the session.
///
/// - Throws: A ``VerificationFailure`` with both values.
package func verify<Value: Equatable>(
    _ found: Value,
    equals expected: Value,
    _ what: String
) throws {
    if found != expected {
        throw VerificationFailure("\(what): expected \(expected), found \(found)")
    }
}
