package import Foundation

/// A part of the outbox, with the items, while a transaction of the local database changes it.
///
/// It is a value: a transaction reads what concerns some items, calls one of the methods, and writes what differs.
/// Concurrent transactions are found by the conditions of that write.
///
/// | Transaction | Method |
/// | --- | --- |
/// | the user has changed items | ``write(_:asOne:)`` |
/// | changes begin their way | ``take(_:upTo:maximumBytes:)`` |
/// | a pull has brought an item | ``receive(_:_:)`` |
/// | a pull has ended that began after an answer | ``settle(_:_:)`` |
/// | the user deals with a parked change | ``retry(_:)``, ``discard(_:)`` |
package struct OutboxDraft: Sendable {
    /// The records of items, as far as they were read.
    package var records: [SyncItemID: OutboxRecord] = [:]
    /// What the user sees, as far as it was read.
    package var items: [SyncItemID: Data] = [:]
    /// The items that are sent together, as far as they were read.
    package var groups: [UUID: OutboxGroup] = [:]
    /// The requests without an outcome, all of them.
    package var requests: [SentRequest] = []
    /// What has become of changes.
    package private(set) var outcomes: [SyncOutcome] = []

    /// The items whose removals were overruled by others' changes.
    private var revived: [SyncItemID] = []

    private let merge: @Sendable (SyncVersions) -> MergeResult
    let newID: @Sendable () -> UUID
    let maximumItems: Int

    /// The number of attempts without an outcome after which an item that is sent alone is parked, if others are
    /// answered.
    package static let maximumAttempts = 3

    /// Creates an empty part.
    ///
    /// - Parameters:
    ///   - newID: Returns a new identifier for a group or a request.
    ///   - maximumItems: The number of items that the remote database changes together.
    ///   - merge: Merges two versions of an item.
    package init(
        newID: @escaping @Sendable () -> UUID, maximumItems: Int = .max,
        merge: @escaping @Sendable (SyncVersions) -> MergeResult
    ) {
        (self.newID, self.maximumItems, self.merge) = (newID, maximumItems, merge)
    }
}

// The user's changes.
extension OutboxDraft {

    /// Changes items.
    ///
    /// - Parameters:
    ///   - changes: The items' new bytes; `nil` for those that are removed.
    ///   - isOne: Whether the changes are sent as one.
    ///   - causes: The items from whose removals some of the changes follow.
    package mutating func write(
        _ changes: [(item: SyncItemID, data: Data?)], asOne isOne: Bool, causes: [SyncItemID: SyncItemID] = [:]
    ) {
        let connected = isOne ? groupMembers(with: changes.map(\.item)) : []
        for (item, data) in changes {
            var record = records[item] ?? OutboxRecord(server: items[item])
            var edit = OutboxRecord.Edit(data: data, group: record.edit?.group)
            edit.removed = record.edit?.removed
            edit.number = record.edit.map(\.number) ?? record.sent.map { ($0.number ?? 0) + 1 }
            edit.maximumGroups = record.edit?.maximumGroups
            edit.cause = causes[item]
            // What is parked with others is sent again with them.
            if record.edit?.failure != nil { retry(item) }
            record.edit = edit
            store(record, item)
        }
        if isOne { unite(changes.map(\.item), with: connected) }
    }

    /// Makes one group of a transaction and of those that are connected with it.
    ///
    /// Together they can be too many to be sent at all. Then what the transaction has changed is sent by itself, with
    /// the last version of what the others have changed, too.
    private mutating func unite(_ items: [SyncItemID], with connected: [SyncItemID]) {
        if editedMembers(with: items + connected).count > maximumItems {
            for item in items {
                guard var record = records[item] else { continue }
                leaveGroup(&record)
                records[item] = record
            }
            unite(items)
        } else {
            unite(items + connected)
        }
    }

    /// Adds items as new ones that were there before they were synchronized.
    package mutating func adopt(_ items: [SyncItemID]) {
        for item in items where records[item] == nil {
            guard let data = self.items[item] else { continue }
            var record = OutboxRecord(server: nil)
            record.edit = OutboxRecord.Edit(data: data)
            records[item] = record
        }
    }

    /// Sends a parked change again, and those of its group.
    package mutating func retry(_ item: SyncItemID) {
        let members = members(with: item)
        for member in members {
            records[member]?.edit?.failure = nil
            records[member]?.edit?.attempts = 0
        }
        if members.count > maximumItems { unite(members) }
    }

    /// Gives up a change that is not on its way, and those of its group. One that waits for another program after its
    /// request was not applied is not.
    package mutating func discard(_ item: SyncItemID) {
        takeBack(item)
        for member in members(with: item) {
            guard var record = records[member], let edit = record.edit else { continue }
            outcomes.append(SyncOutcome(item: member, .discarded(edit.data)))
            leaveGroup(&record)
            record.edit = nil
            store(record, member)
        }
    }

    /// Takes back the changes that were sent with an item if it is known that they were not applied, see
    /// ``settle(_:_:where:)``.
    private mutating func takeBack(_ item: SyncItemID) {
        guard let id = records[item]?.sent?.request,
            let number = requests.firstIndex(where: { $0.id == id && $0.wasApplied == false }),
            let group = requests[number].groups.first(where: { $0.contains(item) }),
            group.allSatisfy({ records[$0]?.sent?.request == id })
        else { return }
        requests[number].groups.removeAll { $0 == group }
        if requests[number].groups.isEmpty { requests.remove(at: number) }
        let connected = groupMembers(with: group)
        for item in group {
            let sent = records[item]?.sent
            records[item]?.sent = nil
            if records[item]?.edit == nil { records[item]?.edit = OutboxRecord.Edit(data: sent?.data) }
        }
        unite(group + connected)
    }
}

// Sending.
extension OutboxDraft {

    /// Takes changes for a request.
    ///
    /// - Parameters:
    ///   - candidates: Items with edits, the oldest first.
    ///   - limit: The maximum number of groups; an item without a group counts as one.
    ///   - maximumBytes: The maximum number of bytes of several groups. A larger one is taken alone, so that it holds
    ///     up no others.
    ///   - canSend: Whether changes of a collection can be sent now.
    /// - Returns: The request; `nil` if none of the candidates can be sent now.
    package mutating func take(
        _ candidates: [SyncItemID], upTo limit: Int, maximumBytes: Int,
        where canSend: (_ collection: String) -> Bool = { _ in true }
    ) -> SyncRequest? {
        var request = SyncRequest(id: newID(), changes: [])
        var (taken, bytes, room): ([[SyncItemID]], Int, RequestRoom) = ([], 0, RequestRoom(groups: limit))
        for item in candidates where bytes < maximumBytes {
            guard let edit = records[item]?.edit else { continue }
            if mustWait(item, where: canSend) { continue }
            let members = members(with: item)
            let size = members.reduce(0) { size, member in
                size + (records[member]?.server?.count ?? 0) + (records[member]?.edit?.data?.count ?? 0)
            }
            if !taken.isEmpty, bytes + size > maximumBytes { continue }
            guard room.take(edit) else { break }
            for member in members {
                guard var record = records[member], let edit = record.edit else { continue }
                request.changes.append(SyncChange(item: member, base: record.server, data: edit.data))
                record.sent = OutboxRecord.Sent(edit, request: request.id, base: record.server)
                record.edit = nil
                records[member] = record
            }
            if let group = edit.group { groups[group] = nil }
            taken.append(members)
            bytes += size
        }
        guard !taken.isEmpty else { return nil }
        requests.append(SentRequest(id: request.id, groups: taken))
        return request
    }

    /// Whether one of some changes can't be sent now, because of itself or of another one with which it is sent.
    package func mustWait(oneOf items: [SyncItemID], where canSend: (_ collection: String) -> Bool) -> Bool {
        var known: Set<UUID> = []
        return items.contains { item in
            // A group can have many of the items.
            if let group = records[item]?.edit?.group, !known.insert(group).inserted { return false }
            return mustWait(item, where: canSend)
        }
    }

    private func mustWait(_ item: SyncItemID, where canSend: (_ collection: String) -> Bool) -> Bool {
        !members(with: item).allSatisfy { isReady($0) && canSend($0.collection) }
    }

    /// Whether an item's change can be sent. One that follows another on its way waits for the outcome.
    private func isReady(_ item: SyncItemID) -> Bool {
        guard let record = records[item], let edit = record.edit else { return false }
        return record.sent == nil && edit.failure == nil
    }

    /// A request that was taken before; `nil` if its outcome is known.
    package func request(_ id: UUID) -> SyncRequest? {
        guard let sent = requests.first(where: { $0.id == id }) else { return nil }
        let changes = sent.items.compactMap { item in
            records[item]?.sent.map { SyncChange(item: item, base: $0.base, data: $0.data) }
        }
        return SyncRequest(id: id, changes: changes)
    }
}

// What the remote database has.
extension OutboxDraft {

    /// Takes over the version of an item that a pull has brought.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - data: Its bytes; `nil` if there is none.
    ///   - isOther: Whether the remote database is not the one from before. Then it does not follow from a version, or
    ///     from none, what others have done.
    package mutating func receive(_ item: SyncItemID, _ data: Data?, fromOther isOther: Bool = false) {
        if isOther {
            adopt([item])
            if records[item]?.sent == nil { records[item]?.server = nil }
        }
        guard var record = records[item] else {
            items[item] = data
            return
        }
        if record.server == data { return }
        let old = record.server
        record.server = data
        let members = groupMembers(with: [item])
        if let sent = record.sent, sent.data == data { record.sent?.wasSeen = true }
        // While a change is on its way, it is not known whether this version contains it.
        if record.sent == nil { rebase(&record, item, from: record.edit?.removed ?? old) }
        store(record, item)
        withdraw(among: members)
    }

    /// Takes over what a request has written to items that a pull can't bring.
    package mutating func receiveSent(by id: UUID, where isMissing: (SyncItemID) -> Bool) {
        guard let request = requests.first(where: { $0.id == id }) else { return }
        for item in request.items where isMissing(item) {
            guard let record = records[item], let sent = record.sent, sent.request == id else { continue }
            // Otherwise another pull has brought it already, or a later version.
            if record.server == sent.base { receive(item, sent.data) }
        }
    }

    /// Ends a request. A pull that has begun after the answer must have brought the items.
    ///
    /// - Parameters:
    ///   - id: The request's identifier.
    ///   - answer: The answer.
    ///   - isOpen: Whether the pull brings the items of a collection. A group with others stays on its way, for a
    ///     program that gets all of its versions from one moment: a part of a transaction would be sent alone if the
    ///     versions that are known of the others were older. If the request was applied, it stays only if it is not
    ///     known what has become of the others since.
    package mutating func settle(
        _ id: UUID, _ answer: SyncAnswer, where isOpen: (_ collection: String) -> Bool = { _ in true }
    ) {
        // Another process may have done it.
        guard let number = requests.firstIndex(where: { $0.id == id }) else { return }
        var request = requests.remove(at: number)
        let count = request.groups.count
        var waiting = SentRequest(
            id: id, groups: request.groups.filter { group in !group.allSatisfy { isOpen($0.collection) } })
        waiting.wasApplied = answer == .applied
        if answer == .applied {
            // What another pull has brought of an item can be from before the request, or from after it.
            waiting.groups.removeAll { group in
                group.allSatisfy { isOpen($0.collection) || records[$0].map { $0.server == $0.sent?.data } ?? true }
            }
        }
        request.groups.removeAll(where: waiting.groups.contains)
        if !waiting.groups.isEmpty { requests.insert(waiting, at: number) }
        // Without it, the others may be accepted.
        let refused = request.groups.first { group in answer.refusedItem.map(group.contains) ?? false }
        for group in request.groups {
            // A transaction that has waited for its collections to be opened was one of several.
            let isAlone = group == refused || count == 1 && request.wasApplied == nil
            // Together with what was changed since, it may not be refused.
            let isFinal = isAlone && group.allSatisfy { records[$0]?.edit == nil }
            let connected = groupMembers(with: group)
            let wasApplied = answer == .applied || !answer.isRefusal && wasSeen(group)
            for item in group {
                guard var record = records[item], let sent = record.sent, sent.request == id else { continue }
                record.sent = nil
                // What was sent is there, though nothing remembers the request.
                if wasApplied || record.server == sent.data {
                    outcomes.append(SyncOutcome(item: item, .accepted))
                    if record.edit != nil { rebase(&record, item, from: sent.data) }
                } else {
                    restore(sent, in: &record, item, answer, isFinal: isFinal)
                }
                store(record, item)
            }
            withdraw(among: group + connected)
            if wasApplied { continue }
            let limit =
                if refused != nil { group == refused ? 1 : count - 1 } else { answer.isDivisible ? count / 2 : 1 }
            for item in group { records[item]?.edit?.maximumGroups = max(limit, 1) }
            unite(group + connected)
        }
    }

    /// Whether pulls have brought all that was sent of a group. Others may have replaced it since.
    private func wasSeen(_ group: [SyncItemID]) -> Bool {
        group.allSatisfy { item in
            records[item]?.sent.map { $0.wasSeen == true || $0.data == records[item]?.server } ?? true
        }
    }

    /// Lets changes be sent again that are on their way with a request of which nothing is known: what is stored about
    /// it was damaged. It is not known whether they were applied.
    package mutating func takeBackLost() {
        let known = Set(requests.map { $0.id })
        let items = Array(records.keys)
        for item in items {
            guard var record = records[item], let sent = record.sent, !known.contains(sent.request) else { continue }
            record.sent = nil
            restore(sent, in: &record, item, .conflict, isFinal: false)
            store(record, item)
        }
        withdraw(among: items)
    }

    /// Puts a change that was not applied back under those that were made since.
    private mutating func restore(
        _ sent: OutboxRecord.Sent, in record: inout OutboxRecord, _ item: SyncItemID, _ answer: SyncAnswer,
        isFinal: Bool
    ) {
        if record.edit == nil {
            var edit = OutboxRecord.Edit(data: sent.data)
            (edit.attempts, edit.cause) = (sent.attempts, sent.cause)
            switch answer {
            case .refused(let failure, _) where isFinal: edit.failure = failure
            case .unanswered(let failure, let others) where isFinal:
                edit.attempts += 1
                // Otherwise nothing shows that the item is the reason.
                if edit.attempts >= Self.maximumAttempts, others { edit.failure = failure }
            default: break
            }
            if let failure = edit.failure { outcomes.append(SyncOutcome(item: item, .refused(failure))) }
            record.edit = edit
        }
        record.edit?.removed = sent.removed
        record.edit?.number = sent.number
        if record.server != sent.base { rebase(&record, item, from: sent.removed ?? sent.base) }
    }

    /// Merges the edit of a record with the version of the remote database.
    private mutating func rebase(_ record: inout OutboxRecord, _ item: SyncItemID, from base: Data?) {
        guard let edit = record.edit, record.server != base else { return }
        let versions = SyncVersions(
            collection: item.collection, key: item.key, base: base, local: edit.data, remote: record.server)
        let merged = merge(versions)
        if edit.data != record.server {
            outcomes.append(SyncOutcome(item: item, .merged(SyncConflict(versions, merged))))
        }
        if edit.data == nil, merged.data != nil { revived.append(item) }
        record.edit?.data = merged.data
        // Changes of an item that was removed are still changes of the version that they began with.
        record.edit?.removed = record.server == nil ? base : nil
    }

    /// Gives up the changes of some items that follow from removals which others' changes have overruled.
    private mutating func withdraw(among members: [SyncItemID]) {
        while let cause = revived.popLast() {
            for member in members {
                guard var record = records[member], let edit = record.edit, edit.cause == cause else { continue }
                let versions = SyncVersions(
                    collection: member.collection, key: member.key, base: record.base, local: edit.data,
                    remote: record.base)
                outcomes.append(
                    SyncOutcome(item: member, .merged(SyncConflict(versions, MergeResult(data: record.base)))))
                if edit.data == nil, record.base != nil { revived.append(member) }
                leaveGroup(&record)
                record.edit = nil
                store(record, member)
            }
        }
    }
}
