package import Logging

/// The logger of this module: what is swallowed or retried is told here.
package let bodegaLogger = Logger(label: "emporium.bodega")

/// Runs a read that may fail, and logs the error that the caller has no way to return.
///
/// - Parameters:
///   - fallback: What to return when the read failed.
///   - function: The form that swallows the error, for the log.
///   - read: The read.
package func logged<Value>(
    orElse fallback: Value,
    function: String = #function,
    _ read: () async throws -> Value
) async -> Value {
    do {
        return try await read()
    } catch {
        bodegaLogger.error(
            "A read failed and its result looks empty; the fetch form of it would throw.",
            metadata: ["function": "\(function)", "error": "\(error)"]
        )
        return fallback
    }
}
