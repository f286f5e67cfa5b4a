import Bodega
import BodegaSync
import Foundation

/// What must hold in a simulation, on the basis of all that the users have done and the server has committed.
struct SimulationChecks {
    private struct Write {
        let client: Int
        let item: SyncItemID
        /// The member that was written; `nil` if the item was removed.
        let member: Character?
        /// For a removal, the time of the version that the client knew, since which another one can have removed it.
        let since: Int
        /// Whether its user has written over it before it was sent, was told that it has lost, or has given it up.
        var isAccountedFor = false
        var reachedServer = false
        /// How often it has become a member's value while the item existed.
        var effects = 0
    }

    /// A number in an item: one transaction writes the same to two.
    private struct Name: Hashable {
        let token: Int
        let item: SyncItemID
    }

    private struct Place: Hashable {
        let client: Int
        let item: SyncItemID
        let member: Character
    }

    private struct Knowledge: Hashable {
        let client: Int
        let name: Name
    }

    private(set) var violations: [String] = []
    private var writes: [Name: Write] = [:]
    private var tokens: [SyncItemID: [Int]] = [:]
    /// The last time at which an item was absent from the server.
    private var absences: [SyncItemID: Int] = [:]
    /// The last times at which versions of items were committed.
    private var versions: [SyncItemID: [Data: Int]] = [:]
    /// The values that a member had before, for a user.
    private var left: [Place: Set<Int>] = [:]
    /// What each user has seen, or was told to have replaced unseen.
    private var known: Set<Knowledge> = []
    /// The values that came back with an item that had been removed.
    private var broughtBack: Set<Name> = []
    /// Whether all items of a transaction win or lose together: those of the server can be from different moments while
    /// a snapshot is read, so that one of them is in conflict and another is not.
    var keepsPairs = true
    /// Whether a change can be made twice, because neither a receipt nor the log remembers it.
    var mayRepeat = false
    /// Whether the server recognizes requests. Otherwise an item that was removed comes back if the answer to its
    /// insertion was lost, and then a change of it can, too.
    var recognizesRequests = true

    /// The item whose history is printed.
    var traced: String?

    private func trace(_ item: SyncItemID, _ text: @autoclosure () -> String, at time: Int) {
        if item.text == traced { print("\(time) ms: \(text())") }
    }

    mutating func fail(_ text: String, at time: Int) {
        if violations.count < 5 { violations.append("\(time) ms: \(text)") }
    }

    // MARK: Users

    /// - Parameter known: The version of the server that the client knows.
    mutating func wrote(
        _ token: Int, _ client: Int, _ item: SyncItemID, _ member: Character?, over known: Data? = nil, at time: Int
    ) {
        trace(item, "client \(client) writes \(token) to \(member.map(String.init) ?? "nothing")", at: time)
        for other in tokens[item] ?? [] {
            let name = Name(token: other, item: item)
            guard let write = writes[name], write.client == client, !write.reachedServer else { continue }
            if member == nil || write.member == nil || write.member == member { writes[name]?.isAccountedFor = true }
        }
        writes[Name(token: token, item: item)] = Write(
            client: client, item: item, member: member, since: known.flatMap { versions[item]?[$0] } ?? time)
        tokens[item, default: []].append(token)
    }

    mutating func discarded(_ client: Int, _ item: SyncItemID) {
        for token in tokens[item] ?? [] {
            let name = Name(token: token, item: item)
            if writes[name]?.client == client { writes[name]?.isAccountedFor = true }
        }
        left = left.filter { $0.key.client != client || $0.key.item != item }
    }

    /// - Parameter tellsRemote: Whether the user is also told what others have lost.
    mutating func reported(_ client: Int, _ outcomes: [SyncOutcome], tellsRemote: Bool = true, at time: Int) {
        for outcome in outcomes {
            let name = SyncItemID(collection: outcome.collection, key: outcome.key)
            trace(name, "client \(client) gets \(outcome.kind.text)", at: time)
            guard case .merged(let conflict) = outcome.kind else { continue }
            let item = SyncItemID(collection: outcome.collection, key: outcome.key)
            let versions = conflict.versions
            for token in tokens[item] ?? [] where versions.base == nil && versions.local == nil {
                // What was removed has never been on the server.
                let name = Name(token: token, item: item)
                if writes[name]?.client == client, writes[name]?.member == nil { writes[name]?.isAccountedFor = true }
            }
            for loss in conflict.losses {
                for token in tokens[item] ?? [] {
                    let name = Name(token: token, item: item)
                    guard let write = writes[name], isLost(token, write, in: loss.lost) else { continue }
                    switch loss.side {
                    case .local: if write.client == client { writes[name]?.isAccountedFor = true }
                    case .remote: if tellsRemote { known.insert(Knowledge(client: client, name: name)) }
                    }
                }
            }
        }
    }

    /// Whether what has lost is a write.
    private func isLost(_ token: Int, _ write: Write, in lost: Data?) -> Bool {
        guard let lost, let member = write.member else { return lost == nil && write.member == nil }
        let text = String(decoding: lost, as: UTF8.self)
        return Int(text) == token || text.hasPrefix("{") && SimulatedItem(lost).members[member] == token
    }

    /// A user sees another version of an item.
    mutating func shown(_ client: Int, _ item: SyncItemID, from before: Data?, to after: Data?, at time: Int) {
        trace(item, "client \(client) sees \(after.text) instead of \(before.text)", at: time)
        for token in after.map({ SimulatedItem($0).members.values.map { $0 } }) ?? [] {
            known.insert(Knowledge(client: client, name: Name(token: token, item: item)))
        }
        guard let before, let after else {
            if after == nil { left = left.filter { $0.key.client != client || $0.key.item != item } }
            return
        }
        let (old, new) = (SimulatedItem(before), SimulatedItem(after))
        for (member, value) in new.members.sorted(by: { $0.key < $1.key }) where old.members[member] != value {
            let place = Place(client: client, item: item, member: member)
            // A device that lags behind can see another value before the one that is back.
            let isBack = broughtBack.contains(Name(token: value, item: item))
            if left[place]?.contains(value) == true, !isBack, !mayRepeat {
                fail("client \(client) sees the old value \(value) of \(item.text).\(member) again", at: time)
            }
            if let gone = old.members[member] { left[place, default: []].insert(gone) }
        }
    }

    /// A removal has nothing to remove from the server.
    mutating func hasNoEffect(_ token: Int, _ item: SyncItemID) {
        writes[Name(token: token, item: item)]?.isAccountedFor = true
    }

    // MARK: Server

    mutating func committed(_ client: Int, _ commit: SimulatedServer.Commit, at time: Int) {
        trace(commit.item, "client \(client) commits \(commit.new.text) instead of \(commit.old.text)", at: time)
        guard let data = commit.new else {
            absences[commit.item] = time
            let isRemoval = (tokens[commit.item] ?? []).contains { token in
                let write = writes[Name(token: token, item: commit.item)]
                return write?.client == client && write?.member == nil
            }
            if !isRemoval, commit.old != nil {
                fail("client \(client) removes \(commit.item.text) on its own", at: time)
            }
            return
        }
        if commit.old == nil, absences[commit.item] != nil { absences[commit.item] = time }
        versions[commit.item, default: [:]][data] = time
        // A change of a removed item has brought it back, with what it was before.
        if commit.old == nil { left = left.filter { $0.key.item != commit.item } }
        let old = commit.old.map { SimulatedItem($0).members } ?? [:]
        let new = SimulatedItem(data).members
        for (member, token) in new where old[member] != token {
            let name = Name(token: token, item: commit.item)
            if commit.old == nil, writes[name]?.reachedServer == true { broughtBack.insert(name) }
            writes[name]?.reachedServer = true
            if commit.old == nil { continue }
            if let gone = old[member] {
                let goneName = Name(token: gone, item: commit.item)
                if writes[goneName]?.client != client, !known.contains(Knowledge(client: client, name: goneName)) {
                    fail(
                        "client \(client) replaces \(gone) in \(commit.item.text).\(member), which its user has "
                            + "neither seen nor was told of", at: time)
                }
            }
            writes[name]?.effects += 1
            if writes[name]?.client != client {
                fail("client \(client) undoes a change of \(commit.item.text).\(member) with \(token)", at: time)
            } else if let effects = writes[name]?.effects, effects > 1, !mayRepeat {
                // What it is a change of has come back.
                let isBack = old.values.contains { broughtBack.contains(Name(token: $0, item: commit.item)) }
                if !recognizesRequests, isBack {
                    broughtBack.insert(name)
                    continue
                }
                fail("\(token) in \(commit.item.text).\(member) has taken effect twice", at: time)
            }
        }
        for (member, token) in old where new[member] == nil {
            // Its user has removed the item and added another one under its key.
            let isReplaced = (tokens[commit.item] ?? []).contains { other in
                let write = writes[Name(token: other, item: commit.item)]
                return write?.client == client && write?.member == nil
            }
            if isReplaced { continue }
            fail("client \(client) loses \(commit.item.text).\(member), which was \(token)", at: time)
        }
    }

    mutating func checkPair(_ first: Data?, _ second: Data?, _ place: String, at time: Int) {
        if first != second, keepsPairs { fail("\(place) has half of a transaction", at: time) }
    }

    // MARK: End

    /// - Parameters:
    ///   - items: What the server has.
    ///   - parked: Whether a client has parked changes of an item.
    mutating func checkWrites(
        _ items: [SyncItemID: Data], at time: Int, isParked: (_ client: Int, _ item: SyncItemID) -> Bool
    ) {
        for (name, write) in writes.sorted(by: { $0.key.token < $1.key.token }) {
            let token = name.token
            if write.isAccountedFor || write.reachedServer || isParked(write.client, write.item) { continue }
            if write.member == nil {
                if items[write.item] == nil || absences[write.item].map({ $0 >= write.since }) == true { continue }
                fail("the removal \(token) of \(write.item.text) by client \(write.client) has vanished", at: time)
            } else {
                fail("\(token) in \(write.item.text) by client \(write.client) has vanished", at: time)
            }
        }
    }
}

extension SyncOutcome.Kind {
    fileprivate var text: String {
        guard case .merged(let conflict) = self else { return "\(self)" }
        let versions = conflict.versions
        return "\(versions.base.text) + \(versions.local.text) + \(versions.remote.text) = \(conflict.merged.text)"
    }
}

extension Data? {
    fileprivate var text: String { map { String(decoding: $0, as: UTF8.self) } ?? "nothing" }
}

extension SyncItemID {
    var text: String { "\(collection)/\(key.rawValue)" }
}
