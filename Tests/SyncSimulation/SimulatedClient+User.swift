import Bodega
import BodegaSync
import BodegaTesting
import Foundation

// What the user of a client does.
extension SimulatedClient {

    private static let keys = ["k", "l", "m"]

    private var knownMembers: [Character] { Array("abcd".prefix(version + 2)) }

    /// Adds an item before anything is synchronized.
    func addExisting() {
        let item = SyncItemID(collection: "a", key: CacheKey(Self.keys[number % 3]))
        if disk.items[item] != nil { return }
        var content = SimulatedItem()
        let token = simulation.newToken()
        content.members["a"] = token
        simulation.checks.wrote(token, number, item, "a", at: simulation.now)
        disk.items[item] = content.data
        if !simulation.has(.existingNotSent) { transact { $0.adopt([item]) } }
    }

    /// Performs a random operation.
    func act(_ random: inout SeededGenerator) {
        let collection = Bool.random(using: &random) ? "a" : "b"
        let key = Self.keys[Int.random(in: 0..<Self.keys.count, using: &random)]
        let item = SyncItemID(collection: collection, key: CacheKey(key))
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<9: edit(item, &random)
        case 9..<11: remove(item)
        case 11..<13: replace(item)
        case 13..<17: changePair(&random)
        case 17..<19: addRefused(&random)
        default: dealWithParked(&random)
        }
        handle(.outboxChanged)
    }

    private func store(_ changes: [(item: SyncItemID, data: Data?)], asOne isOne: Bool = false) {
        let divides = simulation.has(.transactionDivided)
        if simulation.has(.tornTransaction), simulation.chance(4) {
            for (item, data) in changes { disk.items[item] = data }
            return
        }
        let sent = changes.map { disk.records[$0.item]?.sent }
        transact { $0.write(changes, asOne: isOne && !divides) }
        guard simulation.has(.editReplacesSent) else { return }
        for ((item, data), sent) in zip(changes, sent) {
            guard var sent, disk.records[item] != nil else { continue }
            sent.data = data
            disk.records[item]?.sent = sent
            disk.records[item]?.edit = nil
        }
    }

    /// Changes a member as a version of the app does that does not know all of them.
    private func edit(_ item: SyncItemID, _ random: inout SeededGenerator) {
        let member = knownMembers[Int.random(in: 0..<knownMembers.count, using: &random)]
        let token = simulation.newToken()
        let stored = disk.items[item].map { SimulatedItem($0) } ?? SimulatedItem()
        var known = stored
        known.members = known.members.filter { knownMembers.contains($0.key) }
        var new = known
        new.members[member] = token
        var data = new.data
        if let old = disk.items[item], !simulation.has(.unknownMembersDropped) {
            data = JSONMerge.preserving(data, known: known.data, stored: old)
        }
        var expected = stored
        expected.members[member] = token
        if SimulatedItem(data) != expected, !simulation.has(.unknownMembersDropped) {
            simulation.checks.fail("client \(number) loses a member of \(item.text)", at: simulation.now)
        }
        simulation.checks.wrote(token, number, item, member, at: simulation.now)
        store([(item, data)])
    }

    private func remove(_ item: SyncItemID) {
        guard disk.items[item] != nil else { return }
        let token = simulation.newToken()
        let known = disk.records[item].map(\.server) ?? disk.items[item]
        simulation.checks.wrote(token, number, item, nil, over: known, at: simulation.now)
        store([(item, nil)])
        // The server has no item that the removal concerns.
        if disk.records[item]?.server == nil || disk.records[item]?.edit == nil {
            simulation.checks.hasNoEffect(token, item)
        }
    }

    /// Removes an item and adds one under the same key.
    private func replace(_ item: SyncItemID) {
        remove(item)
        let token = simulation.newToken()
        var new = SimulatedItem()
        new.members["a"] = token
        simulation.checks.wrote(token, number, item, "a", at: simulation.now)
        if simulation.has(.insertionAfterRemovalIsLost), disk.records[item]?.edit?.data == .some(nil) {
            disk.items[item] = new.data
        } else {
            store([(item, new.data)])
        }
    }

    private func changePair(_ random: inout SeededGenerator) {
        let pair = Self.pairs[Int.random(in: 0..<Self.pairs.count, using: &random)]
        let token = simulation.newToken()
        var new = SimulatedItem()
        new.members["p"] = token
        for item in [pair.first, pair.second] { simulation.checks.wrote(token, number, item, "p", at: simulation.now) }
        store([(pair.first, new.data), (pair.second, new.data)], asOne: true)
    }

    /// Adds an item that the server refuses or never answers, alone or in a transaction; or makes one acceptable again.
    private func addRefused(_ random: inout SeededGenerator) {
        let token = simulation.newToken()
        let keys = ["x", "y"].prefix(Int.random(in: 1...2, using: &random))
        let items = keys.map { SyncItemID(collection: "a", key: CacheKey("\($0)\(number)")) }
        let kind = Int.random(in: 0..<3, using: &random)
        if kind == 0, simulation.has(.poison) { simulation.makeRefused(token) }
        if kind == 1, simulation.has(.silence) { simulation.makeSilent(token) }
        var new = SimulatedItem()
        new.members["a"] = token
        for item in items { simulation.checks.wrote(token, number, item, "a", at: simulation.now) }
        store(items.map { ($0, new.data) }, asOne: true)
    }

    private func dealWithParked(_ random: inout SeededGenerator) {
        let parked = disk.records.keys.filter { isParked($0) }.sorted { $0.text < $1.text }
        guard let item = parked.randomElement(using: &random) else { return discardWaiting(&random) }
        if Bool.random(using: &random) {
            transact { $0.retry(item) }
            return
        }
        discard(item, [item])
    }

    /// Gives up what waits for a program that opens all collections of its transaction.
    private func discardWaiting(_ random: inout SeededGenerator) {
        let waiting = disk.requests.filter { $0.wasApplied == false }.flatMap(\.groups)
        guard let group = waiting.randomElement(using: &random), let item = group.randomElement(using: &random) else {
            return
        }
        discard(item, group)
    }

    private func discard(_ item: SyncItemID, _ items: [SyncItemID]) {
        for item in items {
            let group = disk.records[item]?.edit?.group
            let members = group.flatMap { disk.groups[$0]?.members } ?? [item]
            let own = members.filter { group == nil || disk.records[$0]?.edit?.group == group }
            for member in own + [item] { simulation.checks.discarded(number, member) }
        }
        let shown = disk.items
        transact { $0.discard(item) }
        if simulation.has(.discardedStaysVisible) { disk.items = shown }
    }
}
