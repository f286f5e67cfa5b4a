#if Postgres
import Bodega
import Foundation

/// The net effect of a batch: the rows to remove, and the rows to write, each once, in lock order.
struct WritePlan: Sendable {

    struct Row: Sendable {
        var key: ItemKey
        var data: Data
        /// The place among the items of the batch.
        var place: Int
        var created: Int64
        var updated: Int64
        /// Whether writing an existing row also sets its date of creation.
        var setsDates: Bool

        init(
            _ key: ItemKey, _ data: Data, place: Int = 0, created: Int64, updated: Int64, setsDates: Bool = false
        ) {
            self.key = key
            self.data = data
            self.place = place
            self.created = created
            self.updated = updated
            self.setsDates = setsDates
        }
    }

    var removesAll = false
    /// The rows to remove before any are written, in the order of the batch. A row that the batch removes and then
    /// writes is among them, and its item moves to the end of the collection.
    var removed: [ItemKey] = []
    var written: [Row] = []
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

    /// Accumulates the operations of a batch.
    struct Builder {

        private struct Entry {
            var key: ItemKey
            var data: Data?
            var place = 0
            var wasRemoved = false
            var created: Int64 = 0
            var updated: Int64 = 0
            var setsDates = false
        }

        private let shards: ShardHash
        private var indices: [CacheKey: Int] = [:]
        private var entries: [Entry] = []
        private var removesAll = false
        private var nextPlace = 0
        private var steps: [(entry: Int, kind: StepKind)] = []

        private enum StepKind {
            case written
            case removed
            case removedIfThere
        }

        init(shards: ShardHash) {
            self.shards = shards
        }

        /// - Parameters:
        ///   - data: The item.
        ///   - key: The item's key.
        ///   - dates: The item's dates; `nil` for an item that is written at `date`.
        ///   - date: The time of the batch.
        mutating func write(_ data: Data, _ key: CacheKey, _ dates: StorageDates?, at date: Int64) {
            let index = index(of: key)
            if entries[index].data == nil {
                entries[index].place = nextPlace
                nextPlace += 1
                steps.append((index, .written))
            }
            entries[index].data = data
            entries[index].created = dates.map { ItemDate.number(of: $0.createdAt) } ?? date
            entries[index].updated = dates.map { ItemDate.number(of: $0.updatedAt) } ?? date
            entries[index].setsDates = dates != nil
        }

        mutating func remove(_ key: CacheKey) {
            let index = index(of: key)
            if entries[index].data != nil {
                steps.append((index, .removed))
            } else if !entries[index].wasRemoved, !removesAll {
                steps.append((index, .removedIfThere))
            }
            entries[index].data = nil
            entries[index].wasRemoved = true
        }

        mutating func removeAll() {
            indices = [:]
            entries = []
            steps = []
            removesAll = true
        }

        func finish() -> WritePlan {
            var plan = WritePlan()
            plan.removesAll = removesAll
            // Sorting pairs of numbers takes a fraction of the time of sorting the entries.
            let order = entries.indices.map { (order: entries[$0].key.order, index: $0) }.sorted { left, right in
                if left.order != right.order { return left.order < right.order }
                return entries[left.index].key < entries[right.index].key
            }
            plan.written.reserveCapacity(entries.count)
            for (_, index) in order {
                let entry = entries[index]
                if let data = entry.data {
                    plan.written.append(
                        Row(
                            entry.key, data, place: entry.place, created: entry.created, updated: entry.updated,
                            setsDates: entry.setsDates))
                }
            }
            var places: [Int: Int] = [:]
            for (index, entry) in entries.enumerated() where entry.wasRemoved && !removesAll {
                places[index] = plan.removed.count
                plan.removed.append(entry.key)
            }
            plan.steps = steps.map { index, kind in
                let key = entries[index].key.full
                return switch kind {
                case .written: .written(key)
                case .removed: .removed(key)
                case .removedIfThere: places[index].map { .removedIfThere(key, place: $0) } ?? .removed(key)
                }
            }
            return plan
        }

        private mutating func index(of key: CacheKey) -> Int {
            if let index = indices[key] { return index }
            indices[key] = entries.count
            entries.append(Entry(key: ItemKey(key, in: shards)))
            return entries.count - 1
        }
    }
}
#endif
