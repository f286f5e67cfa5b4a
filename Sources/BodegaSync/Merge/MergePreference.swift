/// The side that decides where both sides have changed one value.
package enum MergePreference: Sendable, Hashable {
    case local
    case remote
}

/// One of the two versions that are merged.
public enum MergeSide: String, Sendable, Hashable, Codable {
    /// The version of this replica.
    case local
    /// The version of the remote database.
    case remote
}
