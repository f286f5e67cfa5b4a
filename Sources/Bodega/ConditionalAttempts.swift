/// Counts the attempts of a read-modify-write, which is repeated when another writer has changed the item in between.
///
/// Each failed attempt means that another writer has succeeded. So many in a row mean that the reads do not return what
/// the conditions are compared with, which no further attempt changes.
package struct ConditionalAttempts: Sendable {
    /// The maximum number of attempts.
    package static let maximum = 1_000

    private var count = 0

    /// Creates a counter before the first attempt.
    package init() {}

    /// Counts an attempt that has failed.
    ///
    /// - Parameter key: The key of an item of the conditions.
    /// - Throws: A ``StorageError`` with ``StorageError/Code/conflict`` after the last attempt.
    package mutating func fail(_ key: CacheKey?) throws {
        count += 1
        guard count >= Self.maximum else { return }
        throw StorageError(
            .conflict,
            """
            Each of \(count) attempts has found that the item was changed since it was read. Nothing was written. \
            Retry later. If that does not help, the closure changes the item itself, and not through its transaction, \
            or the engine returns outdated items, for example from a mirror: refresh it.
            """,
            key: key)
    }
}
