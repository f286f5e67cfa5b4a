public import Foundation

/// An engine through which a client sees and changes the items of a ``StorageScope`` only.
/// ``StorageEngine/scoped(to:)`` creates one.
///
/// Each read answers as if there were no other items: single items, scans, counts, sort keys, dates, streams, and the
/// log, in which an item that leaves the scope is removed, and one that enters it is written.
///
/// | Write | |
/// | --- | --- |
/// | of an item that is not in the scope, as it is or as it would be | throws ``StorageError/Code/permissionDenied``, and the whole batch has no effect |
/// | that removes an item that is not in the scope | skips it, as one that does not exist |
/// | that removes all items | removes those of the scope |
/// | with conditions, without the right to read | throws ``StorageError/Code/permissionDenied`` |
///
/// All engines of a collection share its keys, so a refused write shows that a key is taken. Use keys that can't be
/// guessed, or give each client a prefix of its own, see ``StorageEngine/prefixed(_:)``. A condition that there is no
/// item is met by one that is not in the scope, and the write is then refused. Positions of items have gaps where
/// there are others. ``StorageLog/changeSignals(excluding:)`` signals changes of others, too, unless the scope has a
/// filter and a reader of the log has a cursor.
///
/// The time of a read shows whether there are large items of others among the candidates or under a key.
///
/// References act for all items, also for those outside of the scope: removing an item can remove or change others that
/// name it, or be refused. The client that declares them decides that, see ``StorageScope/Rights/manage``.
///
/// With a filter:
/// - A read of keys, dates or a number reads the items. A query by an index reads the candidates of all clients, so
///   combine the filter's member with others in an index, or ask for it in the query.
/// - Searches have no index, because the rarity of a word would depend on what others have written.
/// - An item that can't be read is in no scope, or in all: reads report it without its key.
/// - Writes need an engine with conditions, see ``StorageTraits/conditional``. They read the items before, and are
///   repeated if those change in between.
/// - The log does not report an item that has come and gone before anyone has read the log.
/// - A ``StorageCursor`` of the log is valid for this engine only, until the program ends, and for the last 100,000
///   changes; otherwise its reader gets a snapshot. Share one engine among the readers of a scope. From the first
///   cursor on, it keeps the keys of the scope's items in memory.
public struct ScopedStorageEngine: StorageBackend {
    let base: any StorageBackend
    let scope: StorageScope
    let scopedLog: ScopedLog

    init(base: any StorageBackend, scope: StorageScope, log: ScopedLog) {
        (self.base, self.scope, scopedLog) = (base, scope, log)
    }

    /// Those of the base. Changes read items first if the scope has a filter, which ends early when their task is
    /// cancelled.
    public var traits: StorageTraits { hidesItems ? base.traits.subtracting(.ignoresCancellation) : base.traits }

    /// Without a filter, that of the base. Otherwise none: the log and the items can't be read from one moment. The
    /// engine takes part in a ``StorageBatchGroup`` and in ``StorageEngine/transaction(isolation:_:)`` nevertheless, if
    /// it is the outermost wrapper. But a store on it takes part in no transaction over several stores.
    public var database: (any StorageDatabase)? { hidesItems ? nil : base.database }

    public func now() -> Date { base.now() }

    /// Without a filter, the findings of the base. Otherwise none, because they name items of others.
    public func examine() async throws -> [StorageFinding] {
        try scope.require(.read, "read items")
        return hidesItems ? [] : try await base.examine()
    }

    /// The log of the scope's items; `nil` without the right to observe it.
    public var log: (any StorageLog)? {
        guard scope.rights.isSuperset(of: [.read, .observe]), let log = base.log else { return nil }
        return hidesItems ? ScopedLogReader(log: scopedLog, engine: self) : log
    }

    /// Engines of which this is equal have the same ``log``, as long as one of them exists.
    package var logIdentity: ObjectIdentifier {
        hidesItems ? ObjectIdentifier(scopedLog) : ObjectIdentifier(scopedLog.logs)
    }

    public var indexes: (any StorageIndexes)? { base.indexes.map { ScopedIndexes(base: $0, scope: scope) } }

    public var references: (any StorageReferences)? { base.references.map { ScopedReferences(base: $0, scope: scope) } }

    /// Whether the base can have items that are not in the scope.
    var hidesItems: Bool { scope.condition != nil }
}

// Reading.
extension ScopedStorageEngine {

    public func fetch(key: CacheKey) async throws -> Data? {
        try scope.require(.read, "read items")
        return try await concealing { try await base.fetch(key: key) }.flatMap { scope.contains($0) ? $0 : nil }
    }

    public func fetchStream(key: CacheKey) async throws -> StorageByteStream? {
        try scope.require(.read, "read items")
        if !hidesItems { return try await base.fetchStream(key: key) }
        return try await fetch(key: key).map { StorageByteStream($0) }
    }

    public func fetch(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]> {
        try scope.require(.read, "read items")
        var answer = try await concealing { try await base.fetch(stored(request)) }
        answer.value = own(answer.value, request.fields)
        conceal(in: &answer.report)
        return answer
    }

    public func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        try scope.require(.read, "read items")
        if request.needsCursor { try scope.require(.observe, "follow changes") }
        if !hidesItems { return try await base.scan(request, begin) }
        guard !request.isSearch else {
            throw StorageError.searchesInScope
        }
        // The items are those of a later moment, so some of the changes after the cursor can be in them already.
        let cursor = request.needsCursor ? try await scopedLog.fetchCursor() : nil
        let entered = Locked<Set<CacheKey>>([])
        var stored = request
        stored.needsCursor = false
        // A short read that takes longer begins again, which would show how much it has read of others.
        stored.isShort = false
        // What is only counted may not be in the scope, so it is passed on, and counted here.
        (stored.scans, stored.counted) = (request.scans + request.counted, [])
        stored.fields.insert(.data)
        let found = Locked((count: 0, bytes: 0))
        // An error of the receiver is about an item that it has received.
        let receiverHasFailed = Locked(false)
        var answer = try await concealing(unless: { receiverHasFailed.withLock { $0 } }) { [stored] in
            try await base.scan(stored) {
                found.withLock { $0 = (0, 0) }
                entered.withLock { $0 = [] }
                let receive = try begin()
                return { number, item in
                    guard let item = own(item, request.fields) else { return true }
                    if cursor != nil, !scopedLog.isVisible(item.key) { entered.withLock { _ = $0.insert(item.key) } }
                    if number < request.scans.count {
                        found.withLock { $0.bytes += item.data.count }
                        do {
                            return try receive(number, item)
                        } catch {
                            receiverHasFailed.withLock { $0 = true }
                            throw error
                        }
                    }
                    return found.withLock { found in
                        found.count += 1
                        return found.count < request.countLimit
                    }
                }
            }
        }
        try await scopedLog.noteThoseGone(among: entered.withLock { $0 })
        conceal(in: &answer.report)
        let (count, bytes) = found.withLock { $0 }
        (answer.value.count, answer.value.byteCount) = (min(count, request.countLimit), bytes)
        answer.value.cursor = cursor
        return answer
    }

    /// The request that the base gets.
    private func stored(_ request: FetchRequest) -> FetchRequest {
        var stored = request
        if hidesItems { stored.fields.insert(.data) }
        return stored
    }

    /// The items that are in the scope.
    private func own(_ items: [StorageItem], _ fields: StorageFields) -> [StorageItem] {
        hidesItems ? items.compactMap { own($0, fields) } : items
    }

    private func own(_ item: StorageItem, _ fields: StorageFields) -> StorageItem? {
        guard scope.contains(item.data) else { return nil }
        if fields.contains(.data) { return item }
        var item = item
        item.data = Data()
        return item
    }

    /// Performs a read of the base, whose error then names no item, because it may be one of another client.
    ///
    /// - Parameters:
    ///   - isOwn: Whether the error is about an item of the scope.
    ///   - body: The read.
    func concealing<Value>(
        unless isOwn: () -> Bool = { false }, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch let error as StorageError where hidesItems && error.key != nil && !isOwn() {
            throw error.concealed
        }
    }

    private func conceal(in report: inout StorageReport) {
        if hidesItems { report.unreadable = report.unreadable.map { $0.key == nil ? $0 : $0.concealed } }
    }
}

extension StorageError {
    fileprivate static let searchesInScope = StorageError(
        .invalidArgument, "An engine with a scope has no index for searches, because it would count what others store.")

    /// The error without what it says about an item.
    fileprivate var concealed: StorageError { StorageError(code, "An item of the collection can't be read.") }
}

/// The log of an engine with a scope, with the items that the engine reads.
private struct ScopedLogReader: StorageLog {
    let log: ScopedLog
    let engine: ScopedStorageEngine

    func fetchCursor() async throws -> StorageCursor { try await log.fetchCursor() }

    func fetchChanges(_ request: ChangesRequest) async throws -> StorageAnswer<StorageDelta?> {
        request.needsItems
            ? try await log.fetchChangesWithItems(request, of: engine) : try await log.fetchChanges(request)
    }

    func changeSignals(excluding origin: StorageOrigin?) -> AsyncStream<Void> { log.changeSignals(excluding: origin) }
}

/// The indexes of an engine with a scope.
private struct ScopedIndexes: StorageIndexes {
    let base: any StorageIndexes
    let scope: StorageScope

    /// Without those for searches if the scope has a filter.
    func fetchIndexes() async throws -> Set<StorageIndex> {
        try scope.require(.read, "read indexes")
        let indexes = try await base.fetchIndexes()
        return scope.condition == nil ? indexes : indexes.filter { $0.searchForm == nil }
    }

    func createIndex(_ index: StorageIndex) async throws { try await createIndex(index) { _, _ in } }

    func createIndex(
        _ index: StorageIndex, progress: @escaping @Sendable (_ examined: Int, _ total: Int) -> Void
    ) async throws {
        if index.searchForm != nil, scope.condition != nil { throw StorageError.searchesInScope }
        let isReader = scope.rights.contains(.read) && !scope.rights.contains(.manage)
        if isReader, try await base.fetchIndexes().contains(index) { return }
        try scope.require(.manage, "create indexes")
        try await base.createIndex(index, progress: progress)
    }

    func removeIndex(_ index: StorageIndex) async throws {
        try scope.require(.manage, "remove indexes")
        try await base.removeIndex(index)
    }
}

/// The references of an engine with a scope.
private struct ScopedReferences: StorageReferences {
    let base: any StorageReferences
    let scope: StorageScope

    func fetchReferences() async throws -> [StorageReference] {
        try scope.require(.read, "read references")
        return try await base.fetchReferences()
    }

    func isReferenced() async throws -> Bool { try await base.isReferenced() }

    func declareReferences(_ references: [StorageReference]) async throws {
        if !scope.rights.contains(.manage), Set(try await base.fetchReferences()) == Set(references) { return }
        try scope.require(.manage, "declare references")
        try await base.declareReferences(references)
    }
}

extension StorageEngine {

    /// Returns an engine through which a client sees and changes the items of a scope only.
    ///
    /// ```swift
    /// let scope = StorageScope(where: "owner", equals: userID)
    /// let notes = ObjectStorage<Note>(storage: database.scoped(to: scope))
    /// ```
    ///
    /// Create one engine for each scope, and share it: a ``StorageCursor`` belongs to one of them.
    ///
    /// - Parameter scope: What the client may see and do.
    public func scoped(to scope: StorageScope) -> ScopedStorageEngine {
        ScopedLogs(base: backend).engine(for: scope)
    }
}
