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
        let time: Int
        /// Whether its user has written over it before it was sent, was told that it has lost, or has given it up.
        var isAccountedFor = false
        var reachedServer = false
        /// How often it has become a member's value while the item existed.
        var effects = 0
    }

    private struct Place: Hashable {
        let client: Int
        let item: SyncItemID
        let member: Character
    }

    private(set) var violations: [String] = []
    private var writes: [Int: Write] = [:]
    private var tokens: [SyncItemID: [Int]] = [:]
    /// The last time at which an item was absent from the server.
    private var absences: [SyncItemID: Int] = [:]
    /// The values that a member had before, for a user.
    private var left: [Place: Set<Int>] = [:]
    /// Whether a change can be made twice, because nothing remembers it.
    var mayRepeat = false

    mutating func fail(_ text: String, at time: Int) {
        if violations.count < 5 { violations.append("\(time) ms: \(text)") }
    }

    // MARK: Users

    mutating func wrote(_ token: Int, _ client: Int, _ item: SyncItemID, _ member: Character?, at time: Int) {
        for other in tokens[item] ?? [] {
            guard let write = writes[other], write.client == client, !write.reachedServer else { continue }
            if member == nil || write.member == nil || write.member == member { writes[other]?.isAccountedFor = true }
        }
        writes[token] = Write(client: client, item: item, member: member, time: time)
        tokens[item, default: []].append(token)
    }

    mutating func discarded(_ client: Int, _ item: SyncItemID) {
        for token in tokens[item] ?? [] where writes[token]?.client == client { writes[token]?.isAccountedFor = true }
        left = left.filter { $0.key.client != client || $0.key.item != item }
    }

    mutating func reported(_ client: Int, _ outcomes: [SyncOutcome]) {
        for outcome in outcomes {
            guard case .merged(let conflict) = outcome.kind else { continue }
            let item = SyncItemID(collection: outcome.collection, key: outcome.key)
            for loss in conflict.losses where loss.side == .local {
                for token in tokens[item] ?? [] {
                    guard let write = writes[token], write.client == client else { continue }
                    let isLost: Bool
                    if let lost = loss.lost, let member = write.member {
                        let text = String(decoding: lost, as: UTF8.self)
                        isLost = Int(text) == token
                            || text.hasPrefix("{") && SimulatedItem(lost).members[member] == token
                    } else {
                        isLost = loss.lost == nil && write.member == nil
                    }
                    if isLost { writes[token]?.isAccountedFor = true }
                }
            }
        }
    }

    /// A user sees another version of an item.
    mutating func shown(_ client: Int, _ item: SyncItemID, _ old: Data?, _ new: Data?, at time: Int) {
        guard let old, let new else {
            if new == nil { left = left.filter { $0.key.client != client || $0.key.item != item } }
            return
        }
        let (old, new) = (SimulatedItem(old), SimulatedItem(new))
        for (member, value) in new.members where old.members[member] != value {
            let place = Place(client: client, item: item, member: member)
            if left[place]?.contains(value) == true {
                fail("client \(client) sees the old value \(value) of \(item.text).\(member) again", at: time)
            }
            if let before = old.members[member] { left[place, default: []].insert(before) }
        }
    }

    // MARK: Server

    mutating func committed(_ client: Int, _ commit: SimulatedServer.Commit, at time: Int) {
        guard let data = commit.new else {
            absences[commit.item] = time
            let isRemoval = (tokens[commit.item] ?? []).contains { token in
                writes[token]?.client == client && writes[token]?.member == nil
            }
            if !isRemoval, commit.old != nil { fail("client \(client) removes \(commit.item.text) on its own", at: time) }
            return
        }
        let old = commit.old.map { SimulatedItem($0).members } ?? [:]
        let new = SimulatedItem(data).members
        for (member, token) in new where old[member] != token {
            writes[token]?.reachedServer = true
            if commit.old == nil { continue }
            writes[token]?.effects += 1
            if writes[token]?.client != client {
                fail("client \(client) undoes a change of \(commit.item.text).\(member) with \(token)", at: time)
            } else if let effects = writes[token]?.effects, effects > 1, !mayRepeat {
                fail("\(token) in \(commit.item.text).\(member) has taken effect twice", at: time)
            }
        }
        for (member, token) in old where new[member] == nil {
            fail("client \(client) loses \(commit.item.text).\(member), which was \(token)", at: time)
        }
    }

    mutating func checkPair(_ first: Data?, _ second: Data?, _ place: String, at time: Int) {
        if first != second { fail("\(place) has half of a transaction", at: time) }
    }

    // MARK: End

    /// - Parameters:
    ///   - items: What the server has.
    ///   - parked: Whether a client has parked changes of an item.
    mutating func checkWrites(
        _ items: [SyncItemID: Data], at time: Int, isParked: (_ client: Int, _ item: SyncItemID) -> Bool
    ) {
        for (token, write) in writes.sorted(by: { $0.key < $1.key }) {
            if write.isAccountedFor || write.reachedServer || isParked(write.client, write.item) { continue }
            if write.member == nil {
                if items[write.item] == nil || absences[write.item].map({ $0 >= write.time }) == true { continue }
                fail("the removal \(token) of \(write.item.text) by client \(write.client) has vanished", at: time)
            } else {
                fail("\(token) in \(write.item.text) by client \(write.client) has vanished", at: time)
            }
        }
    }
}

extension SyncItemID {
    var text: String { "\(collection)/\(key.rawValue)" }
}
