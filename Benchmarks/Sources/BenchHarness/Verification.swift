/// A side did not do what was measured, so its number would mean nothing.
package struct VerificationFailure: Error, CustomStringConvertible {
    /// What was expected and what was found.
    package let description: String

    /// Describes the failure.
    package init(_ description: String) {
        self.description = description
    }
}

/// Stops the session if two things that must agree don't.
///
/// - Throws: A ``VerificationFailure`` that names both.
package func verify<Value: Equatable>(
    _ found: Value,
    equals expected: Value,
    _ what: String
) throws {
    if found != expected {
        throw VerificationFailure("\(what): expected \(expected), found \(found)")
    }
}
