import Bodega
import BodegaSync
import Foundation

/// The remote database of a simulation: items, a log with a limited age, and receipts.
struct SimulatedServer {
    struct Change {
        let number: Int
        let item: SyncItemID
        let request: UUID
        let time: Int
    }

    struct Cursor: Hashable {
        let log: Int
        let number: Int
    }

    /// What a pull gets of a collection.
    struct News {
        var collection: String
        var isWhole: Bool
        var items: [(key: CacheKey, data: Data?)]
        var cursor: Cursor
    }

    /// A change that was committed.
    struct Commit {
        let item: SyncItemID
        let old: Data?
        let new: Data?
    }

    enum Answer { case applied([Commit]), repeated, conflict, fenced, refused(SyncAnswer) }

    private(set) var items: [SyncItemID: Data] = [:]
    private var log: [Change] = []
    private var receipts: [UUID: (isVoid: Bool, time: Int)] = [:]
    private var lastNumber = 0
    /// The number of the last change that was dropped from the log.
    private var floor = 0
    /// The number of the log; another one after a failover.
    private(set) var logNumber = 0
    /// How long the log and the receipts reach back.
    var logAge = Int.max
    var receiptAge = Int.max

    mutating func apply(
        _ id: UUID, _ changes: [SyncChange], refusal: SyncAnswer?, keepsReceipts: Bool, keepsVoids: Bool,
        keepsConflicts: Bool, at time: Int
    ) -> Answer {
        forget(before: time)
        if keepsReceipts, let receipt = receipts[id], keepsVoids || !receipt.isVoid {
            return receipt.isVoid ? .fenced : .repeated
        }
        for change in changes where items[change.item] != change.base {
            // The client goes on, so a copy of the request that arrives later must not be applied.
            if keepsConflicts { receipts[id] = (true, time) }
            return .conflict
        }
        if let refusal { return .refused(refusal) }
        var commits: [Commit] = []
        for change in changes {
            commits.append(Commit(item: change.item, old: items[change.item], new: change.data))
            items[change.item] = change.data
            lastNumber += 1
            log.append(Change(number: lastNumber, item: change.item, request: id, time: time))
        }
        receipts[id] = (false, time)
        return .applied(commits)
    }

    /// Ensures that a request has been applied or never will be, and returns whether it has been.
    mutating func fence(_ id: UUID, at time: Int) -> Bool {
        forget(before: time)
        if let receipt = receipts[id] { return !receipt.isVoid }
        receipts[id] = (true, time)
        return false
    }

    private mutating func forget(before time: Int) {
        if logAge < .max, let last = log.lastIndex(where: { $0.time < time - logAge }) {
            floor = log[last].number
            log.removeSubrange(...last)
        }
        if receiptAge < .max { receipts = receipts.filter { $0.value.time >= time - receiptAge } }
    }

    mutating func failOver() { logNumber += 1 }

    /// What has changed in a collection, from one moment.
    ///
    /// - Returns: The news, and the requests that have made the changes.
    mutating func pull(_ collection: String, since cursor: Cursor?, at time: Int) -> (News, Set<UUID>) {
        forget(before: time)
        let end = Cursor(log: logNumber, number: lastNumber)
        guard let cursor, cursor.log == logNumber, cursor.number >= floor else {
            let all = items.filter { $0.key.collection == collection }
            let sorted = all.sorted { $0.key.key.rawValue < $1.key.key.rawValue }
            return (
                News(
                    collection: collection, isWhole: true, items: sorted.map { ($0.key.key, $0.value) }, cursor: end),
                []
            )
        }
        let changes = log.filter { $0.number > cursor.number && $0.item.collection == collection }
        var (seen, news): (Set<CacheKey>, [(key: CacheKey, data: Data?)]) = ([], [])
        for change in changes where seen.insert(change.item.key).inserted {
            news.append((change.item.key, items[change.item]))
        }
        return (
            News(collection: collection, isWhole: false, items: news, cursor: end), Set(changes.map(\.request))
        )
    }
}
