public import Foundation

/// A change that was merged, as it is kept.
public struct StoredConflict: Hashable, Sendable, Codable, Identifiable {
    /// Its identifier.
    public let id: UUID
    /// When it was merged.
    public let date: Date
    /// The versions.
    public let conflict: SyncConflict
}
