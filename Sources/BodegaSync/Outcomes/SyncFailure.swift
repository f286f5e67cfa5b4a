/// Why a remote database does not accept a change.
public struct SyncFailure: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The code of the error, such as that of a `StorageError`.
    public let code: String
    /// What happened, and what can be done about it.
    public let message: String

    /// Creates a description of a failure.
    public init(code: String, message: String) { (self.code, self.message) = (code, message) }

    public var description: String { "\(code): \(message)" }
}
