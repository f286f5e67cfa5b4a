/// Looks again and again whether something is so.
///
/// - Parameters:
///   - what: What is waited for, for the error.
///   - limit: When to give up.
///   - condition: Whether it is so.
/// - Throws: A ``PostgresServerError`` if it is not so in time, and what the condition throws.
package func waitUntil(
    _ what: String,
    within limit: Duration = .seconds(180),
    isolation: isolated (any Actor)? = #isolation,
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !condition() {
        if ContinuousClock.now > deadline { throw PostgresServerError("Waited \(limit) in vain until \(what).") }
        try await Task.sleep(for: .milliseconds(10))
    }
}
