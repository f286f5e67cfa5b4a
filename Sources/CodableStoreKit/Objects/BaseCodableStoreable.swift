import Foundation
import RecordCoder

/// A type whose objects a ``CodableStore`` can store, without the methods of ``CodableStoreable`` on the type itself.
///
/// A store decodes many objects on several threads simultaneously, unless the type is a class. A custom `init(from:)`
/// and a custom identifier type must be safe to use on several threads.
///
/// ```swift
/// struct User: BaseCodableStoreable {
///     let id: String
///     var name: String
///
///     static var codableStoreIdentifier: KeyPath<User, String> { \.id }
/// }
/// ```
public protocol BaseCodableStoreable: Codable, SendableMetatype {

    /// The type of the value that identifies an object in its collection.
    ///
    /// An identifier must be `Hashable` and have a representation that is the same in every process: it is a string, a
    /// number, a `UUID`, a `URL`, another `LosslessStringConvertible` type, `RawRepresentable` by one of these, or
    /// `Encodable`. Stores compare the bytes of that representation, and for an `AnyHashable` also the type of its
    /// value. Saving an object whose identifier has no such representation, or contains a `Set` or an unordered
    /// dictionary, throws an error with the code ``Bodega/StorageError/Code/unsupportedIdentifier``.
    associatedtype ID: Hashable

    /// The key path of an object's identifier.
    static var codableStoreIdentifier: KeyPath<Self, ID> { get }

    /// The name of the type's collection.
    ///
    /// The default is the type's name followed by `.Type`. In that case, the collection is identified by the type's
    /// full name, so types with equal short names have different collections. A custom name is used as it is: types
    /// with equal custom names share a collection. Choose a custom name if the type or its module may be renamed later.
    ///
    /// A private or local type must choose a name. Otherwise, operations throw an error with the code
    /// ``Bodega/StorageError/Code/ambiguousCollection``.
    static var codableStoreCollectionName: String { get }

    /// The type's encoder and decoder. The default reads and writes JSON like `JSONEncoder` and `JSONDecoder`.
    static var codableStoreCoder: Coder { get }
}

extension BaseCodableStoreable {
    public static var codableStoreCollectionName: String {
        String(describing: type(of: self))
    }

    public static var codableStoreCoder: Coder {
        (RecordEncoder(), RecordDecoder())
    }
}

extension BaseCodableStoreable {
    /// The object's identifier.
    var codableStoreID: ID { self[keyPath: Self.codableStoreIdentifier] }
}
