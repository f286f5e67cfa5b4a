/// Items that were sent alone several times, without an answer while no others were answered either. They rest, so that
/// others are sent, until something shows that the remote database answers, or some time has passed.
///
/// This is known to one program until it ends. Then another one tries them, too.
package struct RestingItems: Sendable {
    /// The number of attempts with which an item rests.
    private var attempts: [SyncItemID: Int] = [:]

    /// Creates an empty set.
    package init() {}

    /// Whether an item can be sent. If it may rest afterwards, this is taken note of.
    package mutating func mayBeSent(_ item: SyncItemID, _ edit: OutboxRecord.Edit) -> Bool {
        if edit.attempts < OutboxDraft.maximumAttempts { return true }
        if let limit = attempts[item], edit.attempts >= limit { return false }
        attempts[item] = edit.attempts + 1
        return true
    }

    /// Lets all items be sent again, once each.
    package mutating func wake() { attempts = [:] }
}
