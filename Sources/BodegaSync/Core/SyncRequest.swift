package import Foundation

/// Changes that are sent together, and applied all or none.
package struct SyncRequest: Hashable, Sendable {
    /// Identifies the request, so that it has one effect, however often it is sent.
    package let id: UUID
    /// The changes, of different items.
    package var changes: [SyncChange]
}

/// A change of an item of the remote database.
package struct SyncChange: Hashable, Sendable {
    /// The item.
    package let item: SyncItemID
    /// The version that the remote database must have.
    package let base: Data?
    /// The item's bytes; `nil` to remove it.
    package let data: Data?

    /// Creates a change.
    package init(item: SyncItemID, base: Data?, data: Data?) { (self.item, self.base, self.data) = (item, base, data) }
}

/// A request as it is remembered until its outcome is known.
package struct SentRequest: Hashable, Sendable, Codable {
    /// The request's identifier.
    package let id: UUID
    /// Its items, in groups that are not divided.
    package var groups: [[SyncItemID]]
    /// Whether it was applied, or never will be; `nil` if that is not known. What is left then waits for a program that
    /// has opened all collections of a group, or is given up.
    package var wasApplied: Bool?

    package init(id: UUID, groups: [[SyncItemID]]) { (self.id, self.groups) = (id, groups) }

    /// All items.
    package var items: [SyncItemID] { groups.flatMap { $0 } }
}

/// How a request has ended.
package enum SyncAnswer: Hashable, Sendable {
    /// The changes were applied.
    case applied
    /// An item was changed by others, so nothing was applied.
    case conflict
    /// The changes are not accepted; because of that of one item, regardless of the others, if it is known.
    case refused(SyncFailure, of: SyncItemID? = nil)
    /// There was no answer in several attempts, and the changes will never be applied.
    ///
    /// - Parameter others: Whether others were answered between the attempts, so that it is the changes that are not.
    case unanswered(SyncFailure, others: Bool)

    /// Whether its changes are sent again in two parts. Each part of a request without an answer would wait for several
    /// answers that never come, so there each group is sent alone.
    var isDivisible: Bool {
        if case .unanswered = self { false } else { true }
    }

    /// Whether the remote database refuses the request.
    var isRefusal: Bool {
        if case .refused = self { true } else { false }
    }

    /// The item whose change is refused, regardless of the others; `nil` if it is not known.
    var refusedItem: SyncItemID? {
        if case .refused(_, let item) = self { item } else { nil }
    }
}
