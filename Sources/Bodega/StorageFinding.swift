public import Foundation

/// Something that an examination of a store has found, see ``ExaminableStorageEngine``.
public struct StorageFinding: Sendable, Hashable, CustomStringConvertible {

    /// How much it matters.
    public enum Severity: String, Sendable, CaseIterable {
        /// Data is damaged, can't be reached or can't be read now.
        case problem
        /// Nothing is lost, but somebody may want to know.
        case remark
    }

    /// How much it matters.
    public var severity: Severity

    /// What was found and what can be done about it.
    public var message: String

    /// The key of the item concerned, if it is one item.
    public var key: CacheKey?

    /// The file concerned, if it is one.
    public var file: URL?

    /// Creates a finding.
    ///
    /// - Parameters:
    ///   - severity: How much it matters.
    ///   - message: What was found and what can be done about it.
    ///   - key: The key of the item concerned, if it is one item.
    ///   - file: The file concerned, if it is one.
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

/// An engine that can look for damage and remains in what it keeps its items in.
///
/// ``SQLiteStorageEngine`` and ``DiskStorageEngine`` are such engines. An engine that was opened for reading only can be
/// examined too.
public protocol ExaminableStorageEngine: StorageEngine {

    /// Looks for damage and remains. Nothing is changed.
    ///
    /// - Returns: What was found, in no certain order; empty if all is well.
    /// - Throws: A ``StorageError`` if it could not be examined.
    func examine() async throws -> [StorageFinding]
}
