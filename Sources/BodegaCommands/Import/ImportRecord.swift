import Bodega
import Foundation

/// An item in the input.
struct ImportRecord: Equatable, Sendable {
    /// The item's key.
    var key: CacheKey
    /// The item's bytes, as they are in the input.
    var data: Data
}

/// A record that can't become an item. Reading can continue after it.
struct BadRecord: Error, Equatable, Sendable {
    /// The place of the record, such as "line 7".
    var place: String
    /// The number of the line or element, counted from 1; `nil` where records have no number.
    var number: Int?
    /// The reason: a sentence.
    var reason: String
    /// The exit status of an import that it ends: ``ExitStatus/badInput`` if its content is invalid,
    /// ``ExitStatus/failure`` if it can't be read.
    var status = ExitStatus.badInput
}

/// An input that yields items one after another.
protocol RecordSource {
    /// Reads the next item.
    ///
    /// - Returns: The item, `nil` at the end.
    /// - Throws: A ``BadRecord``, after which a call reads the next record; a ``ToolError`` if reading can't continue.
    mutating func next() throws -> ImportRecord?

    /// Whether reading can wait for the writer of the input.
    var canWait: Bool { get }

    /// Reads until ``next()`` does not wait, or until some time has passed or the command is interrupted.
    ///
    /// - Parameter seconds: The time; 0 does not wait.
    /// - Returns: Whether ``next()`` does not wait: a whole record was read, or the end. It may be `false` before the
    ///   end.
    mutating func isReady(within seconds: Double) throws -> Bool

    /// The amount of input consumed: bytes, or files of a folder.
    var progress: Int { get }

    /// The size of the input, in the unit of ``progress``, `nil` if it is unknown.
    var total: Int? { get }
}

extension RecordSource {
    var canWait: Bool { false }
    mutating func isReady(within seconds: Double) throws -> Bool { true }
}
