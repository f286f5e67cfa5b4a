#if Server
public import Bodega

/// The collections of a ``StorageServer``.
///
/// ```swift
/// let some: StorageCollections = ["notes": notes, "folders": folders]
/// var all = StorageCollections { name in try database.collection(named: name) }
/// all.receipts = try database.collection(named: "receipts")
/// ```
public struct StorageCollections: Sendable, ExpressibleByDictionaryLiteral {
    let open: @Sendable (String) async throws -> (any StorageEngine)?

    /// Where the server notes which requests with an idempotency key it has carried out; by default `nil`: it refuses
    /// such keys then, and a client can't repeat a batch with conditions whose answer was lost.
    ///
    /// It must be another collection of the same database, which no client sees. All servers of a database share it.
    /// A note is kept for an hour, see ``StorageServerLimits/receiptSeconds``.
    public var receipts: (any StorageEngine)?

    /// Throws an error if the database can't be reached, for `GET v1/ready`. By default an item of each engine that was
    /// named at the creation is read, and one of ``receipts``.
    public var checkReadiness: (@Sendable () async throws -> Void)?

    private var named: [any StorageEngine] = []

    /// Describes collections that are opened on demand, each for the first time that a client asks for it.
    ///
    /// - Parameter open: Returns the engine of a collection; `nil` if there is none. A client can ask for any name.
    public init(_ open: @escaping @Sendable (_ name: String) async throws -> (any StorageEngine)?) { self.open = open }

    /// Describes some collections by their names.
    public init(_ engines: [String: any StorageEngine]) {
        self.init { engines.value(exactly: $0) }
        named = Array(engines.values)
    }

    public init(dictionaryLiteral elements: (String, any StorageEngine)...) {
        self.init(Dictionary(elements) { $1 })
    }

    func check() async throws {
        if let checkReadiness { return try await checkReadiness() }
        for engine in named + [receipts].compactMap(\.self) {
            _ = try await engine.backend.fetch(key: CacheKey(verbatim: "emporium-ready"))
        }
    }
}
#endif
