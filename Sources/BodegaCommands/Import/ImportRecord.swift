package import Bodega
package import Foundation

/// An item that was found in the input.
package struct ImportRecord: Equatable, Sendable {
    /// The item's key.
    package var key: CacheKey
    /// The item's bytes, as they are in the input.
    package var data: Data
}

/// A record from which no item can be made. The input can be read on after it.
package struct BadRecord: Error, Equatable, Sendable {
    /// Where the record is, such as "line 7".
    package var place: String
    /// The number of the line or element, counted from 1; `nil` where records have no number.
    package var number: Int?
    /// What is wrong with it: a sentence.
    package var reason: String
    /// The exit status of an import that it ends: whether its contents are wrong, or it could not be read at all.
    package var status = ExitStatus.badInput
}

/// An input in which items are found one after another.
package protocol RecordSource {
    /// Finds the next item.
    ///
    /// - Returns: The item, `nil` at the end.
    /// - Throws: A ``BadRecord``, after which the next call goes on behind it; a ``ToolError`` if the input can't be
    ///   read on.
    mutating func next() throws -> ImportRecord?

    /// How much of the input has been used up: bytes, or files of a folder.
    var progress: Int { get }

    /// How large the input is, in the unit of ``progress``, `nil` if that isn't known.
    var total: Int? { get }
}
