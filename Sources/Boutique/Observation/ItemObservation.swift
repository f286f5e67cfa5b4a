import Bodega

/// The observation points of single items, at a cost independent of the numbers of items and observers.
///
/// Items are divided into 1,024 groups by the hashes of their keys, and a change notifies the observers of its item's
/// group. So an observer is notified needlessly of one in a thousand changes of other items, which observation allows.
/// One point for each item that was ever read would grow without bound.
@MainActor
final class ItemObservation {
    /// The number of groups, a power of two.
    nonisolated static let groups = 1024

    private var points: [ObservationPoint?] = []

    nonisolated init() {}

    /// Records that an item is being read.
    func access(_ key: CacheKey) {
        if points.isEmpty { points = Array(repeating: nil, count: Self.groups) }
        let group = Self.group(of: key)
        if let point = points[group] { return point.access() }
        let point = ObservationPoint()
        points[group] = point
        point.access()
    }

    /// Notifies observers that items are about to change.
    func willChange(_ keys: ChangedKeys) {
        forEachPoint(of: keys) { $0.willChange() }
    }

    /// Notifies observers that items have changed.
    func didChange(_ keys: ChangedKeys) {
        forEachPoint(of: keys) { $0.didChange() }
    }

    private func forEachPoint(of keys: ChangedKeys, _ body: (ObservationPoint) -> Void) {
        if points.isEmpty { return }
        switch keys {
        case .any: for case let point? in points { body(point) }
        case .these(let keys): for group in Set(keys.map(Self.group)) { points[group].map(body) }
        }
    }

    private nonisolated static func group(of key: CacheKey) -> Int {
        key.hashValue & (groups - 1)
    }
}

/// The keys of the items that a change affects.
enum ChangedKeys {
    case these([CacheKey])
    case any

    init(_ changes: [StoreChange<some StorableItem>]) {
        var keys: [CacheKey] = []
        for change in changes {
            guard let changed = change.keys, keys.count + changed.count <= ItemObservation.groups else {
                self = .any
                return
            }
            keys += changed
        }
        self = .these(keys)
    }
}
