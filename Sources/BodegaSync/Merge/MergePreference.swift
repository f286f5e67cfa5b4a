/// The side that decides where both sides have changed one value.
package enum MergePreference: Sendable, Hashable {
    case local
    case remote
}

/// One of the two versions that are merged.
public enum MergeSide: String, Sendable, Hashable, Codable {
    case local
    case remote
}
