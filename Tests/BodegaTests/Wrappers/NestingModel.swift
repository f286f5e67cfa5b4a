import Bodega
import BodegaTesting
import Foundation

/// An item, to compare.
struct Item: Hashable, Sendable, CustomStringConvertible {
    let key: CacheKey
    let data: Data

    init(_ item: (key: CacheKey, data: Data)) { (key, data) = item }

    var description: String { "\(key): \(data.first ?? 0) × \(data.count)" }
}

/// The items of a nesting, and which of them are evicted or expire.
struct NestingModel: Sendable {
    private struct Entry {
        let key: CacheKey
        var data: Data
        var expiry: Date
    }

    private let nesting: FaultyNesting
    private var entries: [Entry] = []

    init(_ nesting: FaultyNesting) { self.nesting = nesting }

    private var current: [Entry] {
        nesting.layers.contains(.expiring)
            ? entries.filter { $0.expiry > nesting.clock.current } : entries
    }

    /// The items that have not expired.
    var visible: [Item] { current.map { Item(($0.key, $0.data)) } }

    subscript(key: CacheKey) -> Data? { current.first { $0.key == key }?.data }

    /// Applies operations and evicts. Returns `false`, and changes nothing, if the operations exceed a limit alone.
    mutating func apply(_ operations: [StorageOperation]) -> Bool {
        var after = entries
        var written: Set<CacheKey> = []
        for operation in operations {
            switch operation {
            case .write(let key, let data):
                written.insert(key)
                let expiry = nesting.clock.current + 10
                if let place = after.firstIndex(where: { $0.key == key }) {
                    (after[place].data, after[place].expiry) = (data, expiry)
                } else {
                    after.append(Entry(key: key, data: data, expiry: expiry))
                }
            case .remove(let key):
                written.remove(key)
                after.removeAll { $0.key == key }
            case .removeAll: (after, written) = ([], [])
            }
        }
        guard nesting.isLimited else {
            entries = after
            return true
        }
        if exceedsLimit(after.filter { written.contains($0.key) }) { return false }
        while exceedsLimit(after), let place = after.firstIndex(where: { !written.contains($0.key) }) {
            after.remove(at: place)
        }
        entries = after
        return true
    }

    private func exceedsLimit(_ entries: [Entry]) -> Bool {
        let bytes = entries.reduce(0) { $0 + $1.data.count + nesting.overheads.limited }
        return entries.count > FaultyNesting.limit.count || bytes > FaultyNesting.limit.bytes
    }
}
