package import Foundation

/// The outcome of a merge.
package struct MergeResult: Sendable, Hashable {
    /// The merged item; `nil` if it is removed.
    package var data: Data?
    /// The changes that are not in the merged item, in the order of their paths in it.
    package var losses: [MergeLoss]

    package init(data: Data?, losses: [MergeLoss] = []) { (self.data, self.losses) = (data, losses) }
}

/// A change of one side that is not in the merged item, because the other side has changed the same value.
package struct MergeLoss: Sendable, Hashable, Codable {
    /// The normalized path of RFC 9535, section 2.7, such as `$['owner']['name']`.
    ///
    /// A name that is not valid Unicode is in it as it is written in the item.
    package var path: String
    /// The losing value as it was written; `nil` if the losing change is a removal.
    package var lost: Data?
    /// The side whose change has lost.
    package var side: MergeSide

    package init(path: String, lost: Data?, side: MergeSide) {
        (self.path, self.lost, self.side) = (path, lost, side)
    }
}
