import Foundation

// How wrappers omit the items that they or their base can't read.

extension TransformingStorageEngine {

    /// Returns an engine whose reads omit the items that ``decode(_:key:)`` throws for, or that the base can't read.
    /// See ``PartiallyReadableStorageEngine/omittingUnreadable(_:)``.
    public func omittingUnreadable(_ report: @escaping @Sendable (StorageError) -> Void) -> any StorageEngine {
        func wrapped(_ base: some StorageEngine) -> any StorageEngine {
            OmittingTransform(inner: self, base: base, report: report)
        }
        return wrapped(
            base.omittingUnreadableItems { error in
                // An item of the base alone does not concern the readers of this engine.
                guard let key = error.key.flatMap(key(ofStored:)) else { return }
                var error = error
                error.key = key
                report(error)
            })
    }

    /// Decodes an item. The error names it.
    func decodeItem(_ stored: Data, key: CacheKey) throws(StorageError) -> Data? {
        do {
            return try decode(stored, key: key)
        } catch var error as StorageError {
            error.key = key
            throw error
        } catch {
            throw StorageError(
                .decodingFailed,
                "The engine can't decode the item. Restore it from a backup, remove it, or write it again.",
                key: key, cause: error)
        }
    }
}

extension ForwardingStorageEngine {

    /// Returns an engine whose reads omit the items that the base can't read, and go through ``forward(_:_:)``. See
    /// ``PartiallyReadableStorageEngine/omittingUnreadable(_:)``.
    public func omittingUnreadable(_ report: @escaping @Sendable (StorageError) -> Void) -> any StorageEngine {
        func wrapped(_ base: some StorageEngine) -> any StorageEngine { OmittingForward(outer: self, base: base) }
        return wrapped(base.omittingUnreadableItems(report))
    }
}

extension StorageEngine {
    fileprivate func omittingUnreadableItems(
        _ report: @escaping @Sendable (StorageError) -> Void
    ) -> any StorageEngine {
        (self as? any PartiallyReadableStorageEngine)?.omittingUnreadable(report) ?? self
    }
}

/// A transforming engine on a base that omits its unreadable items, which omits those that it can't decode, too.
private struct OmittingTransform<Inner: TransformingStorageEngine, Base: StorageEngine>: TransformingStorageEngine {
    let inner: Inner
    let base: Base
    let report: @Sendable (StorageError) -> Void

    var ownsAllItems: Bool { inner.ownsAllItems }

    func encode(_ data: Data, key: CacheKey) throws -> Data { try inner.encode(data, key: key) }

    func decode(_ stored: Data, key: CacheKey) -> Data? {
        do throws(StorageError) {
            return try inner.decodeItem(stored, key: key)
        } catch {
            report(error)
            return nil
        }
    }

    func storedKey(_ key: CacheKey) -> CacheKey { inner.storedKey(key) }

    func key(ofStored key: CacheKey) -> CacheKey? { inner.key(ofStored: key) }
}

extension OmittingTransform: DatedStorageEngine where Base: DatedStorageEngine {}
extension OmittingTransform: ConditionalStorageEngine where Base: ConditionalStorageEngine {}
extension OmittingTransform: ObservableStorageEngine where Base: ObservableStorageEngine {}
extension OmittingTransform: QueryableStorageEngine where Base: QueryableStorageEngine {}
extension OmittingTransform: CommitReportingStorageEngine where Base: CommitReportingStorageEngine {}

/// A forwarding engine on a base that omits its unreadable items.
private struct OmittingForward<Outer: ForwardingStorageEngine, Base: StorageEngine>: ForwardingStorageEngine {
    let outer: Outer
    let base: Base

    func forward<Value>(_ call: StorageCall, _ body: () async throws -> Value) async throws -> Value {
        try await outer.forward(call, body)
    }
}

extension OmittingForward: DatedStorageEngine where Base: DatedStorageEngine {}
extension OmittingForward: ConditionalStorageEngine where Base: ConditionalStorageEngine {}
extension OmittingForward: ObservableStorageEngine where Base: ObservableStorageEngine {}
extension OmittingForward: QueryableStorageEngine where Base: QueryableStorageEngine {}
