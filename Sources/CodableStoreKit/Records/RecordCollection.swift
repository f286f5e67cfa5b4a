import Bodega
import Foundation

/// The records of one collection in one medium, on top of the medium's synchronous core in Bodega.
protocol RecordCollection: AnyObject, Sendable {

    /// The key of the object with an identifier of this text.
    func key(_ text: String) -> CacheKey

    /// The record under a key.
    func data(of key: CacheKey) throws -> Data?

    /// Whether there is a record under a key.
    func contains(_ key: CacheKey) throws -> Bool

    /// All records in insertion order.
    func items() throws -> [(key: CacheKey, data: Data)]

    /// The same without the keys.
    func values() throws -> [Data]

    /// Whether others can put records there under keys of their own choice.
    var canHoldStrays: Bool { get }

    /// The records that others have put there under keys of their own choice.
    func strays() throws -> [(key: CacheKey, data: Data)]

    /// The file that holds the record under a key, for errors.
    func file(of key: CacheKey) throws -> URL?

    /// Reads records and applies what follows from them, all or nothing, without a change by others in between.
    ///
    /// - Parameters:
    ///   - body: Finds out what is to be done. It may run more than once.
    ///   - committed: Is called once when it is done, in the order of the changes. It must only take note.
    func update(
        _ body: @escaping @Sendable (any RecordContents) throws -> [StorageOperation],
        committed: @escaping @Sendable () -> Void
    ) throws

    /// Follows what others change, if the medium tells.
    ///
    /// - Parameter tell: Is told in the order of the changes, `update`'s `committed` included. It must only take note.
    /// - Returns: What ends it, `nil` if the medium doesn't tell.
    func follow(_ tell: @escaping @Sendable ([SQLiteEffect]) -> Void) -> (@Sendable () -> Void)?
}

/// Records while they are being changed.
protocol RecordContents {
    /// The record under a key.
    func data(of key: CacheKey) throws -> Data?

    /// All records in insertion order.
    func allItems() throws -> [(key: CacheKey, data: Data)]
}

extension DiskContents: RecordContents {}
extension SQLiteContents: RecordContents {}

extension RecordCollection {
    func values() throws -> [Data] { try items().map(\.data) }

    var canHoldStrays: Bool { false }

    func strays() throws -> [(key: CacheKey, data: Data)] { [] }

    func follow(_ tell: @escaping @Sendable ([SQLiteEffect]) -> Void) -> (@Sendable () -> Void)? { nil }
}
