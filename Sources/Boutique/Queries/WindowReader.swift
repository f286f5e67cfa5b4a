import Bodega

/// Reads what a window shows, off the main actor.
protocol WindowReader: Sendable {
    associatedtype Contents: WindowContentsValue

    /// The engine of the objects. Its log says how far the window is read.
    var engine: any StorageBackend { get }

    /// The other engines on whose items the rows depend.
    var others: [any StorageBackend] { get }

    /// The sections of the window, without items, if there are any.
    var sections: (any ItemSections<Contents.Item>)? { get }

    /// Reads all rows of a window.
    func all(limit: Int) async throws -> Contents

    /// Reads what has changed since a cursor of ``engine``, and since the other engines were read.
    ///
    /// - Returns: `nil` if all rows must be read.
    func changes(since cursor: StorageCursor, in contents: Contents) async throws -> WindowChanges?

    /// Reads the changed items of a window, and the rows that it lacks then.
    func update(_ contents: Contents, with changes: WindowChanges) async throws -> Contents

    /// Shows more rows of a window, and reads those that it lacks then.
    ///
    /// - Parameter cursor: The place in the log of ``engine`` up to which the window is read.
    func extend(_ contents: Contents, by count: Int, since cursor: StorageCursor?) async throws -> Contents
}

extension WindowReader {
    /// The logs of all engines on which the rows depend.
    var logs: [any StorageLog] { ([engine] + others).compactMap(\.log) }

    /// The database whose moment all reads of an update must be of, `nil` if they need not, or can't be.
    var database: (any StorageDatabase)? { others.isEmpty ? nil : engine.database(with: others) }

    /// Reads at one moment of the database, if there is one.
    func atOneMoment<Value: Sendable>(_ read: @escaping @Sendable () async throws -> Value) async throws -> Value {
        guard let database else { return try await read() }
        return try await database.answering(read)
    }

    /// Reads all rows of a window.
    @concurrent func all(limit: Int, after old: Contents?) async throws -> WindowUpdate<Contents> {
        WindowUpdate(try await all(limit: limit), after: old, sections: sections)
    }

    /// Reads the changed items of a window, and the rows that it lacks then.
    ///
    /// - Parameters:
    ///   - read: What was read before the changes.
    ///   - changes: The changes.
    ///   - old: What is shown.
    @concurrent func update(
        _ read: Contents, with changes: WindowChanges, after old: Contents?
    ) async throws -> WindowUpdate<Contents> {
        WindowUpdate(try await update(read, with: changes), after: old, sections: sections)
    }

    /// Shows more rows of a window, and reads those that it lacks then.
    @concurrent func extended(
        _ old: Contents, by count: Int, since cursor: StorageCursor?
    ) async throws -> WindowUpdate<Contents> {
        WindowUpdate(try await extend(old, by: count, since: cursor), after: old, sections: sections)
    }
}

extension StorageDatabase {
    /// Returns what a closure reads at one moment.
    func answering<Value: Sendable>(_ read: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let found = Locked<[Value]>([])
        try await atOneMoment {
            let value = try await read()
            found.withLock { $0 = [value] }
        }
        guard let value = found.withLock({ $0.first }) else {
            preconditionFailure("A database reads at a moment, or throws.")
        }
        return value
    }
}

/// What has changed since a window was read.
struct WindowChanges: Sendable {
    /// The changes of the objects.
    var own: LogChanges
    /// The changes of related items; `nil` if there are none, or they are not followed.
    var related: LogChanges?

    var isEmpty: Bool { own.keys.isEmpty && related?.keys.isEmpty ?? true }

    /// Whether any of them may belong to a transaction over several collections.
    var maySpanCollections: Bool { own.maySpanCollections || related?.maySpanCollections ?? false }

    /// The place in the log of the objects after them.
    var cursor: StorageCursor { own.cursor }
}

/// The items of an engine that have changed.
struct LogChanges: Sendable {
    var keys: Set<CacheKey> = []
    /// Whether any of them may belong to a transaction over several collections. Programs without this package don't
    /// say so.
    var maySpanCollections = false
    /// The place in the log after them.
    var cursor: StorageCursor

    /// The keys of the items that are read with one call.
    var parts: [[CacheKey]] {
        let keys = Array(keys)
        return stride(from: 0, to: keys.count, by: 512).map { Array(keys[$0..<min($0 + 512, keys.count)]) }
    }
}

/// The maximum number of changed items that a window reads. After more of them, it reads all rows.
let maximumChanges = 10_000

extension StorageBackend {
    /// Returns the end of the log; `nil` if the engine has none, so that its changes can't be followed.
    func followedCursor() async throws -> StorageCursor? {
        do {
            return try await log?.fetchCursor()
        } catch let error as StorageError where error.code == .readOnly {
            // A file that is read without a log.
            return nil
        }
    }

    /// Reads which items have changed since a place in the log.
    ///
    /// - Parameter maximum: The maximum number of changed items.
    /// - Returns: `nil` if the log does not reach back, or too much has changed.
    func changedKeys(since start: StorageCursor, upTo maximum: Int = maximumChanges) async throws -> LogChanges? {
        guard let log else { return nil }
        var (changes, isComplete) = (LogChanges(cursor: start), false)
        while !isComplete {
            guard let delta = try await log.fetchChanges(ChangesRequest(since: changes.cursor)).value else {
                return nil
            }
            changes.keys.formUnion(delta.changes.lazy.map(\.key))
            if delta.changes.contains(where: { $0.origin?.isShared ?? true }) { changes.maySpanCollections = true }
            if changes.keys.count > maximum { return nil }
            (changes.cursor, isComplete) = (delta.cursor, delta.isComplete)
        }
        return changes
    }
}
