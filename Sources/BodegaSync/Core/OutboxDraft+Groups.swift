import Foundation

// Keeping records and groups together.
extension OutboxDraft {

    /// Stores a record, or removes it if it has become the version of the remote database.
    mutating func store(_ record: OutboxRecord, _ item: SyncItemID) {
        var record = record
        if let edit = record.edit, edit.data == record.base {
            leaveGroup(&record)
            record.edit = nil
        }
        items[item] = record.visible
        records[item] = record.edit == nil && record.sent == nil ? nil : record
    }

    /// The items that are sent with an item, itself included.
    func members(with item: SyncItemID) -> [SyncItemID] {
        guard let id = records[item]?.edit?.group, let group = groups[id] else { return [item] }
        return group.members.filter { records[$0]?.edit?.group == id }
    }

    /// The items that are sent with some items, before these change.
    ///
    /// An item that is again as the remote database has it leaves its group, but still connects the transactions that
    /// have changed it: one of them without the others would be a state that the user has never seen.
    func groupMembers(with items: [SyncItemID]) -> [SyncItemID] {
        var known: Set<UUID> = []
        return items.flatMap { item in
            guard let group = records[item]?.edit?.group, known.insert(group).inserted else { return [SyncItemID]() }
            return members(with: item)
        }
    }

    /// Removes an item's change from its group, before the record is stored.
    mutating func leaveGroup(_ record: inout OutboxRecord) {
        guard let group = record.edit?.group else { return }
        record.edit?.group = nil
        groups[group]?.count -= 1
        if groups[group]?.count == 0 { groups[group] = nil }
    }

    /// The items that have edits, with those of the groups that they belong to.
    func editedMembers(with items: [SyncItemID]) -> [SyncItemID] {
        var (members, known, seen): ([SyncItemID], Set<SyncItemID>, Set<UUID>) = ([], [], [])
        for item in items where records[item]?.edit != nil {
            // All of a group come with the first of them.
            if let group = records[item]?.edit?.group, groups[group] != nil, !seen.insert(group).inserted { continue }
            for member in self.members(with: item) where known.insert(member).inserted { members.append(member) }
        }
        return members
    }

    /// Makes one group of the items that have edits, and of the groups that they belong to; several, if they are too
    /// many to be sent together.
    mutating func unite(_ items: [SyncItemID]) {
        let members = editedMembers(with: items)
        let old = Set(members.compactMap { records[$0]?.edit?.group })
        // The largest one keeps its identifier, so that the records of its members stay as they are.
        let largest = members.count > maximumItems ? nil : old.max { groups[$0]?.count ?? 0 < groups[$1]?.count ?? 0 }
        for group in old { groups[group] = nil }
        let failure = members.compactMap { records[$0]?.edit?.failure }.first
        let limit = members.compactMap { records[$0]?.edit?.maximumGroups }.min()
        var rest = members[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(maximumItems))
            rest = rest.dropFirst(part.count)
            let group = part.count > 1 ? largest ?? newID() : nil
            if let group { groups[group] = OutboxGroup(members: part, count: part.count) }
            for member in part {
                records[member]?.edit?.group = group
                if members.count == 1 { continue }
                records[member]?.edit?.failure = failure
                records[member]?.edit?.maximumGroups = limit
            }
        }
    }
}
