import Foundation

/// A read of one item from the base of a cache, and the readers that wait for its result.
///
/// The ``StorageCache`` guards it with its lock.
final class StorageCacheLoad: @unchecked Sendable {
    // @unchecked because every access to the variables holds the lock of the cache.
    typealias Reader = CheckedContinuation<Result<Data?, any Error>, any Error>

    let key: CacheKey
    private var readers: [UUID: Reader] = [:]
    private var result: Result<Data?, any Error>?

    init(_ key: CacheKey) { self.key = key }

    /// Adds a reader.
    ///
    /// - Returns: The result if the load has ended, otherwise `nil`: the reader waits. An error if it is cancelled.
    func add(
        _ reader: Reader, as id: UUID, isCancelled: Bool
    ) -> Result<Result<Data?, any Error>?, CancellationError> {
        if isCancelled { return .failure(CancellationError()) }
        if let result { return .success(result) }
        readers[id] = reader
        return .success(nil)
    }

    /// Removes and returns a reader that waits.
    func remove(_ id: UUID) -> Reader? { readers.removeValue(forKey: id) }

    /// Removes and returns all readers. Later ones get the result.
    func end(_ result: Result<Data?, any Error>) -> [Reader] {
        self.result = result
        defer { readers = [:] }
        return Array(readers.values)
    }
}
