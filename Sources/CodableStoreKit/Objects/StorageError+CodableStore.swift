public import Bodega
import Foundation

extension StorageError.Code {
    /// No object has the identifier.
    public static let notFound = StorageError.Code(rawValue: "notFound")

    /// The identifier has no representation that is the same in every process, so its object could not be found again.
    public static let unsupportedIdentifier = StorageError.Code(rawValue: "unsupportedIdentifier")

    /// Two types use one collection without having chosen its name, or a private or local type has not chosen a name.
    public static let ambiguousCollection = StorageError.Code(rawValue: "ambiguousCollection")
}

extension StorageError {
    /// Returns the error for an identifier that no object has.
    static func notFound(_ identifier: some Hashable) -> StorageError {
        StorageError(.notFound, "No object has the identifier \(String(reflecting: identifier)).")
    }
}
