public import Foundation

/// A finding of an examination of a store; see ``StorageBackend/examine()``.
public struct StorageFinding: Sendable, Hashable, CustomStringConvertible {

    /// The severity of a finding.
    public enum Severity: String, Sendable, CaseIterable {
        /// Data is damaged, can't be reached or can't be read now.
        case problem
        /// No data is lost, but the finding may be of interest.
        case remark
    }

    /// The severity of the finding.
    public var severity: Severity

    /// What was found and what can be done about it.
    public var message: String

    /// The key of the affected item, if the finding is about a single item.
    public var key: CacheKey?

    /// The affected file, if the finding is about a single file.
    public var file: URL?

    /// Creates a finding.
    ///
    /// - Parameters:
    ///   - severity: The severity of the finding.
    ///   - message: What was found and what can be done about it.
    ///   - key: The key of the affected item, if the finding is about a single item.
    ///   - file: The affected file, if the finding is about a single file.
    public init(_ severity: Severity, _ message: String, key: CacheKey? = nil, file: URL? = nil) {
        self.severity = severity
        self.message = message
        self.key = key
        self.file = file
    }

    /// The severity, the message, the key and the file, in one line.
    public var description: String {
        var text = "\(severity.rawValue): \(message)"
        if let key { text += " [key \(key)]" }
        if let file { text += " [\(file.path)]" }
        return text
    }
}
