package import Foundation

/// An item in the outbox: what the remote database has, and what it does not have yet.
///
/// Up to three versions of an item lie on each other. The user sees the topmost.
///
///     edit     changed since; not sent yet
///     sent     on its way; the answer has not come, or no pull has seen its effect
///     server   the last version that a pull has brought
package struct OutboxRecord: Hashable, Sendable, Codable {

    /// A version that is not sent yet.
    package struct Edit: Hashable, Sendable, Codable {
        /// The item's bytes; `nil` if it was removed.
        package var data: Data?
        /// The version on which the user's changes are based, if the remote database has removed the item since.
        package var removed: Data?
        /// The group of items with which it is sent; `nil` if it is sent alone.
        package var group: UUID?
        /// One more than that of the version on its way; `nil` if there was none. It stays when the version is replaced
        /// before it is sent.
        package var number: Int?
        /// How often it was sent alone without an outcome.
        package var attempts = 0
        /// The maximum number of groups with which it is sent, half of those with which it was not applied; `nil` if it
        /// was not sent.
        package var maximumGroups: Int?
        /// Why it is parked; `nil` if it is not.
        package var failure: SyncFailure?
        /// The item from whose removal it follows, because its item named that one; `nil` if the user has made it.
        package var cause: SyncItemID?

        /// Creates a version.
        package init(data: Data?, group: UUID? = nil) { (self.data, self.group) = (data, group) }
    }

    /// A version that was sent.
    package struct Sent: Hashable, Sendable, Codable {
        /// The request with which it was sent.
        package let request: UUID
        /// The version that the remote database must have for the request to be applied.
        package var base: Data?
        /// The item's bytes; `nil` if it was removed.
        package var data: Data?
        /// See ``Edit/removed``.
        package let removed: Data?
        /// See ``Edit/number``.
        package let number: Int?
        /// How often it had been sent alone without an outcome.
        package let attempts: Int
        /// See ``Edit/cause``.
        package let cause: SyncItemID?
        /// Whether a pull has brought it since, so that it is there, or was.
        package var wasSeen: Bool?

        /// Creates a version that is sent.
        package init(_ edit: Edit, request: UUID, base: Data?) {
            (self.request, self.base, data) = (request, base, edit.data)
            (removed, number, attempts, cause) = (edit.removed, edit.number, edit.attempts, edit.cause)
        }
    }

    /// The last version that a pull has brought; `nil` if there was no item.
    package var server: Data?
    /// The version that is on its way.
    package var sent: Sent?
    /// The version that is not sent yet.
    package var edit: Edit?

    /// Creates a record of an item that has not changed.
    package init(server: Data?) { self.server = server }

    /// The version that the user sees.
    package var visible: Data? {
        if let edit { return edit.data }
        if let sent { return sent.data }
        return server
    }

    /// Whether the remote database refuses the change.
    package var isParked: Bool { sent == nil && edit?.failure != nil }

    /// The number of the oldest version that the remote database does not have.
    var firstNumber: Int { (sent.map(\.number) ?? edit?.number) ?? 0 }

    /// The number of the newest one.
    var lastNumber: Int { (edit.map(\.number) ?? sent?.number) ?? 0 }

    /// The version on which the edit is based.
    var base: Data? { sent.map(\.data) ?? server }
}

/// Changes of items that are sent as one.
package struct OutboxGroup: Hashable, Sendable, Codable {
    /// The items. Those whose records do not name the group have left it.
    package let members: [SyncItemID]
    /// The number of items that have not left it.
    package var count: Int
}
