public import Foundation

/// The outcome of a merge.
package struct MergeResult: Sendable, Hashable {
    /// The merged item; `nil` if it is removed.
    package var data: Data?
    /// The changes that are not in the merged item, in the order of their paths in it.
    package var losses: [MergeLoss]

    /// Creates an outcome.
    package init(data: Data?, losses: [MergeLoss] = []) { (self.data, self.losses) = (data, losses) }
}

/// A change of one side that is not in the merged item, because the other side has changed the same value.
public struct MergeLoss: Sendable, Hashable, Codable {
    /// The normalized path of RFC 9535, section 2.7, such as `$['owner']['name']`.
    ///
    /// A name that is not valid Unicode is in it as it is written in the item.
    public var path: String
    /// The losing value as it was written; `nil` if the losing change is a removal.
    public var lost: Data?
    /// The side whose change has lost.
    public var side: MergeSide

    package init(path: String, lost: Data?, side: MergeSide) {
        (self.path, self.lost, self.side) = (path, lost, side)
    }
}
