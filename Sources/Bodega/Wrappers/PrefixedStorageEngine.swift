public import Foundation

/// A collection inside another engine, in which its keys begin with the collection's name.
/// ``StorageEngine/prefixed(_:)`` creates one.
///
/// The other engine keeps the item `dolly` of the collection `sheep` under the key `sheep/dolly`, of the same kind. In
/// the name, `/` is written as `%2F`, and `%` as `%25`, so that no two collections share a key. A key that begins so
/// and was written to the other engine directly belongs to the collection, too.
///
/// Methods that read or remove all items read all keys of the other engine first. Removing all items removes those that
/// exist then; an item that another writer adds at the same time may remain.
///
/// If the other engine hides its keys, an item whose key can't be read may belong to any collection. It appears in all
/// of them, under the key that ``KeyHidingStorageEngine`` describes, and reading it throws, so that no collection looks
/// empty with a wrong keyset. It can be removed by this key, and remains when all items of a collection are removed.
/// The same is true of a file of a ``DiskStorageEngine`` that has lost the key of its item, because the folder was
/// copied without extended attributes, or because Bodega 2 has written it: keep its items in a folder of their own.
public struct PrefixedStorageEngine: TransformingStorageEngine {
    /// The engine that keeps the items of all collections.
    public let base: any StorageBackend

    private let prefix: String
    /// Whether keys of the base can be names of files that have lost their keys.
    private let isFolder: Bool

    init(_ base: any StorageBackend, name: String) {
        self.base = base
        prefix = name.escapingSlashes + "/"
        isFolder = base.isFolder
    }

    public var ownsAllItems: Bool { false }

    public func storedKey(_ key: CacheKey) -> CacheKey {
        if let name = key.unreadableName { return isFolder ? name : key }
        return CacheKey(identity: prefix + key.identity, kind: key.kind)
    }

    public func key(ofStored key: CacheKey) -> CacheKey? {
        if key.isUnreadable { return key }
        if isFolder, key.isNameOfFile { return .standIn(forItemNamed: key) }
        // The characters of a string depend on what follows them. Its bytes don't.
        let (bytes, prefix) = (key.identity.utf8, prefix.utf8)
        guard bytes.starts(with: prefix) else { return nil }
        return CacheKey(identity: String(decoding: bytes.dropFirst(prefix.count), as: UTF8.self), kind: key.kind)
    }

    public func encode(_ data: Data, key: CacheKey) throws -> Data {
        try key.checkIsReadable()
        return data
    }

    public func decode(_ stored: Data, key: CacheKey) throws -> Data? {
        // That of an engine with hidden keys has thrown already.
        guard !isFolder || !key.isUnreadable else {
            throw StorageError(
                .decodingFailed,
                """
                The file has lost the key of its item, so the collection of the item is not known. If the folder was \
                copied without extended attributes, copy it again with them, for example with cp -a or rsync -aX. \
                Otherwise remove the item.
                """,
                key: key)
        }
        return stored
    }

    public func fetchStream(key: CacheKey) async throws -> StorageByteStream? {
        try await naming { try await base.fetchStream(key: storedKey(key)) }
    }

    public func apply(_ stream: StorageByteStream, key: CacheKey) async throws -> StorageAnswer<BatchOutcome> {
        try key.checkIsReadable()
        var answer = try await naming { try await base.apply(stream, key: storedKey(key)) }
        answer.report = answer.report.mapKeys(self.key(ofStored:))
        return answer
    }
}

extension StorageBackend {
    /// Whether the engine keeps items in files under their own keys.
    fileprivate var isFolder: Bool {
        switch self {
        case is DiskStorageEngine: true
        case is PrefixedStorageEngine, is KeyHidingStorageEngine: false
        case let wrapper as any ForwardingStorageEngine: wrapper.base.isFolder
        case let wrapper as any TransformingStorageEngine: wrapper.base.isFolder
        default: false
        }
    }
}

extension StorageEngine {

    /// Returns a collection inside this engine.
    ///
    /// ```swift
    /// let sheep = engine.prefixed("sheep")
    /// let goats = engine.prefixed("goats")
    /// ```
    ///
    /// An engine with collections of its own, such as ``SQLiteStorageEngine``, reads and removes all items of one
    /// faster, and has indexes for each: this one has none, so a query reads all items of the collection.
    ///
    /// - Parameter name: The name of the collection. It may be empty and may hold any character.
    public func prefixed(_ name: String) -> PrefixedStorageEngine {
        PrefixedStorageEngine(backend, name: name)
    }
}
