/// Polls until a condition holds.
///
/// - Parameters:
///   - what: A description of the condition, for the error.
///   - limit: The maximum time to wait.
///   - condition: The condition.
/// - Throws: A ``PostgresServerError`` if the condition doesn't hold in time, or the condition's error.
package func waitUntil(
    _ what: String,
    within limit: Duration = .seconds(180),
    isolation: isolated (any Actor)? = #isolation,
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !condition() {
        if ContinuousClock.now > deadline {
            throw PostgresServerError("Timed out after \(limit) waiting until \(what).")
        }
        try await Task.sleep(for: .milliseconds(10))
    }
}
