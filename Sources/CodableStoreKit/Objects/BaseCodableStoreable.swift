import Foundation
import RecordCoder

/// A type whose objects a ``CodableStore`` can keep, without the conveniences of ``CodableStoreable`` on the type itself.
///
/// Many objects are decoded on several threads at once, unless they are of a class. An `init(from:)` and an identifier of your
/// own must bear that.
///
/// ```swift
/// struct User: BaseCodableStoreable {
///     let id: String
///     var name: String
///
///     static var codableStoreIdentifier: KeyPath<User, String> { \.id }
/// }
/// ```
public protocol BaseCodableStoreable: Codable, ThreadIndependentType {

    /// What identifies an object in its collection.
    ///
    /// Beyond being `Hashable`, it needs a form that is the same in every process: a string, a number, a `UUID`, a `URL`,
    /// anything else that is `LosslessStringConvertible`, `RawRepresentable` by one of these, or `Encodable`. Objects are
    /// distinguished by the bytes of that form; in an `AnyHashable` by their types, too. An identifier without such a form,
    /// or one that contains a `Set` or an unordered dictionary, is an error with
    /// ``Bodega/StorageError/Code/unsupportedIdentifier`` at the first save.
    associatedtype ID: Hashable

    /// Where an object's identifier is.
    static var codableStoreIdentifier: KeyPath<Self, ID> { get }

    /// The name of the type's collection.
    ///
    /// By default it is the type's name and `.Type`. Then the collection is found by the type's full name, so that types
    /// that share the short name don't share the collection. A name of your own is used as it is: types with the same
    /// name share a collection. Choose one if the type or its module may be renamed some day. A private or local type needs
    /// one: without it, using a store is an error with ``Bodega/StorageError/Code/ambiguousCollection``.
    static var codableStoreCollectionName: String { get }

    /// How the type's objects become bytes and back. By default they are JSON as `JSONEncoder` and `JSONDecoder` know it.
    static var codableStoreCoder: Coder { get }
}

#if compiler(>=6.2)
/// A type that can be used as a value on any thread: its conformances are not bound to an actor.
public typealias ThreadIndependentType = SendableMetatype
#else
/// A type that can be used as a value on any thread.
public typealias ThreadIndependentType = Any
#endif

extension BaseCodableStoreable {
    public static var codableStoreCollectionName: String {
        String(describing: type(of: self))
    }

    public static var codableStoreCoder: Coder {
        (RecordEncoder(), RecordDecoder())
    }
}

extension BaseCodableStoreable {
    /// What identifies the object.
    var codableStoreID: ID { self[keyPath: Self.codableStoreIdentifier] }
}
