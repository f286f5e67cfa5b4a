import Bodega
import Foundation

/// The effect of a change on a record.
enum RecordEffect: Sendable {
    /// The record was written, with this data.
    case written(CacheKey, Data)
    /// The record with this data was removed.
    case removed(CacheKey, Data)
}
