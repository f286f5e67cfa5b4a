package import Logging

/// The logger of this module, for errors that are swallowed or retried.
package let bodegaLogger = Logger(label: "emporium.bodega")

/// Runs a read that may fail, and logs the error that the caller has no way to return.
///
/// - Parameters:
///   - fallback: The value to return if the read fails.
///   - function: The caller's name, for the log.
///   - read: The read to run.
package func loggingErrors<Value>(
    orElse fallback: Value,
    function: String = #function,
    _ read: () async throws -> Value
) async -> Value {
    do {
        return try await read()
    } catch {
        bodegaLogger.error(
            "A read failed and returned an empty result. The matching fetch method would throw the error.",
            metadata: ["function": "\(function)", "error": "\(error)"]
        )
        return fallback
    }
}
