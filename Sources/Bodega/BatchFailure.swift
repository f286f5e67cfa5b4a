import GRDB
import Logging

/// Runs an operation on all items as one batch and, if that fails, on each item alone, because one may be the cause.
///
/// - Parameters:
///   - items: The items.
///   - operation: Carries the batch out. A batch that throws must have changed nothing.
/// - Returns: For each item in order, the error, or `nil` if the operation succeeded.
package func errors<Item>(inBatch items: [Item], _ operation: ([Item]) throws -> Void) -> [(any Error)?] {
    func error(_ items: [Item]) -> (any Error)? {
        do {
            try operation(items)
            return nil
        } catch {
            return error
        }
    }
    let shared = error(items)
    guard let shared, shouldRetryEachAlone(after: shared, count: items.count) else { return items.map { _ in shared } }
    bodegaLogger.debug(
        "A batch failed. Trying each item alone.", metadata: ["items": "\(items.count)", "error": "\(shared)"])
    return items.map { error([$0]) }
}

/// Whether a single item may be the cause of a failed batch, so that the others can succeed without it.
///
/// When the storage is locked, each attempt would time out like the first. When it is suspended, each would fail.
package func shouldRetryEachAlone(after error: any Error, count: Int) -> Bool {
    let isLocked =
        [.locked, .suspended].contains((error as? StorageError)?.code)
        || (error as? DatabaseError)?.isOfLock == true
    return count > 1 && !isLocked
}
