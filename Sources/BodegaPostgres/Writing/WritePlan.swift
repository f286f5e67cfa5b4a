#if Postgres
import Bodega
import Foundation

/// The net effect of a batch: the rows to remove, and the rows to write, each once, in lock order.
struct WritePlan: Sendable {

    struct Row: Sendable {
        var key: ItemKey
        var data: Data
        /// The place among the items of the batch.
        var place = 0
        var created: Int64
        var updated: Int64
        /// Whether writing an existing row also sets its date of creation.
        var setsDates = false
    }

    var removesAll = false
    /// The rows to remove before any are written, in the order of the batch. A row that the batch removes and then
    /// writes is among them, and its item moves to the end of the collection.
    var removed: [ItemKey] = []
    var written: [Row] = []
    /// The rows that the batch writes, and removes again, in lock order, without data.
    ///
    /// They are written and removed, so that the transaction conflicts with another one that adds such an item while
    /// this one waits. Otherwise the item would be left after a change that says that it is removed.
    var passing: [Row] = []
    /// The changes to log, in the order of the batch.
    var steps: [Step] = []

    enum Step: Sendable {
        case written([UInt8])
        case removed([UInt8])
        /// A removal that is logged only if the item existed, with its place in ``WritePlan/removed``.
        case removedIfThere([UInt8], place: Int)
    }

    var isEmpty: Bool { !removesAll && removed.isEmpty && written.isEmpty }
}

extension WritePlan {

    /// What the operations so far do with a key.
    private struct Entry {
        let key: ItemKey
        /// The row to write, `nil` if none is written.
        var row: Row?
        /// A row that was written, and removed again.
        var passingRow: Row?
        var wasRemoved = false
    }

    /// Plans the removal of one item.
    init(removing key: ItemKey) {
        removed = [key]
        steps = [.removedIfThere(key.full, place: 0)]
    }

    /// Plans a batch.
    ///
    /// - Parameter date: The date of written items without dates of their own.
    init(_ batch: StorageBatch, in shards: ShardHash, at date: Int64) {
        var indices: [CacheKey: Int] = [:]
        var entries: [Entry] = []
        var nextPlace = 0
        func index(of key: CacheKey) -> Int {
            if let index = indices[key] { return index }
            indices[key] = entries.count
            entries.append(Entry(key: ItemKey(key, in: shards)))
            return entries.count - 1
        }
        for operation in batch.operations {
            switch operation {
            case .write(let key, let data):
                let (index, dates) = (index(of: key), batch.dates[key])
                let place = entries[index].row?.place ?? nextPlace
                if entries[index].row == nil {
                    nextPlace += 1
                    steps.append(.written(entries[index].key.full))
                }
                entries[index].row = Row(
                    key: entries[index].key, data: data, place: place,
                    created: dates.map { ItemDate.number(of: $0.createdAt) } ?? date,
                    updated: dates.map { ItemDate.number(of: $0.updatedAt) } ?? date, setsDates: dates != nil)
            case .remove(let key):
                let index = index(of: key)
                var entry = entries[index]
                if let row = entry.row {
                    entry.passingRow = row
                    entry.passingRow?.data = Data()
                    steps.append(.removed(entry.key.full))
                } else if !entry.wasRemoved, !removesAll {
                    steps.append(.removedIfThere(entry.key.full, place: removed.count))
                }
                if !entry.wasRemoved, !removesAll { removed.append(entry.key) }
                (entry.row, entry.wasRemoved) = (nil, true)
                entries[index] = entry
            case .removeAll:
                (indices, entries, removed, steps) = ([:], [], [], [])
                removesAll = true
            }
        }
        // Sorting pairs of numbers takes a fraction of the time of sorting the rows.
        let order = entries.indices.map { (order: entries[$0].key.order, index: $0) }.sorted { left, right in
            if left.order != right.order { return left.order < right.order }
            return entries[left.index].key < entries[right.index].key
        }
        written = order.compactMap { entries[$0.index].row }
        passing = order.compactMap { entries[$0.index].row == nil ? entries[$0.index].passingRow : nil }
    }
}
#endif
