#if Server
public import Bodega

/// The collections of a ``StorageServer``.
///
/// ```swift
/// let some: StorageCollections = ["notes": notes, "folders": folders]
/// let all = StorageCollections { name in try database.collection(named: name) }
/// ```
public struct StorageCollections: Sendable, ExpressibleByDictionaryLiteral {
    let open: @Sendable (String) async throws -> (any StorageEngine)?

    /// Describes collections that are opened on demand, each for the first time that a client asks for it.
    ///
    /// - Parameter open: Returns the engine of a collection; `nil` if there is none. A client can ask for any name.
    public init(_ open: @escaping @Sendable (_ name: String) async throws -> (any StorageEngine)?) { self.open = open }

    /// Describes some collections by their names.
    public init(_ engines: [String: any StorageEngine]) { self.init { engines.value(exactly: $0) } }

    public init(dictionaryLiteral elements: (String, any StorageEngine)...) {
        self.init(Dictionary(elements) { $1 })
    }
}
#endif
