public import Foundation

/// When an item was first and last written.
///
/// Engines that store to disk keep milliseconds.
public struct StorageDates: Sendable, Hashable {
    /// When the item was first written. Overwriting the item does not change it; removing and writing it again does.
    public var createdAt: Date

    /// When the item was last written.
    public var updatedAt: Date

    /// Creates a pair of dates.
    ///
    /// - Parameters:
    ///   - createdAt: When the item was first written.
    ///   - updatedAt: When the item was last written.
    public init(createdAt: Date, updatedAt: Date) {
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
}
