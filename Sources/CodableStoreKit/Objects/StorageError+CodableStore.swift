public import Bodega
import Foundation

extension StorageError.Code {
    /// There is no object with the identifier.
    public static let notFound = StorageError.Code(rawValue: "notFound")

    /// An identifier has no form that is the same in every process, so its object could not be found again.
    public static let unsupportedIdentifier = StorageError.Code(rawValue: "unsupportedIdentifier")

    /// Two types claim one collection without having chosen its name, or a private or local type has not chosen one.
    public static let ambiguousCollection = StorageError.Code(rawValue: "ambiguousCollection")
}

extension StorageError {
    /// There is no object with an identifier.
    static func notFound(_ identifier: some Hashable) -> StorageError {
        StorageError(.notFound, "There is no object with the identifier \(String(reflecting: identifier)).")
    }
}
