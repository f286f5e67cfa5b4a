import Bodega
import Foundation

/// What an engine's history tells from one place in it to another.
struct HistoryNews: Sendable {

    /// Changes that follow each other.
    enum Part: Sendable {
        /// The store's own. Which they are, it knows.
        case own
        /// Those of others.
        case others([StorageChange])
    }

    /// The changes in their order: own ones and those of others by turns.
    private(set) var parts: [Part] = []
    /// The place behind them.
    let cursor: StorageCursor
    /// The records that others have written, as they are at that place.
    let items: [(key: CacheKey, data: Data)]

    /// Own changes only.
    init(ownUpTo cursor: StorageCursor) {
        self.cursor = cursor
        items = []
        addOwn()
    }

    /// Takes what was read.
    ///
    /// - Parameters:
    ///   - news: The changes, and what is stored under their keys. If all of them are own ones, they may be left out.
    ///   - start: The place before them.
    ///   - origin: Who makes the own ones.
    init(_ news: StorageChangedItems, since start: StorageCursor, readBy origin: StorageOrigin) {
        cursor = news.cursor
        items = news.items
        if news.changes.isEmpty, cursor != start { addOwn() }
        var others: [StorageChange] = []
        for change in news.changes {
            if change.origin != origin {
                others.append(change)
                continue
            }
            add(others)
            others = []
            addOwn()
        }
        add(others)
    }

    /// Whether others have changed anything.
    var concernsOthers: Bool { parts.contains { if case .others = $0 { true } else { false } } }

    /// The changes of others.
    var changesOfOthers: [StorageChange] { parts.flatMap(\.changes) }

    /// The changes of others before the last own ones, and those behind them.
    ///
    /// If there are no own ones, those of others are behind them. An operation that has changed nothing, such as the removal
    /// of what was not there, can have come before what others have written.
    var othersAroundOwn: (before: [StorageChange], after: [StorageChange]) {
        let own = parts.lastIndex { if case .own = $0 { true } else { false } } ?? parts.startIndex
        return (parts[..<own].flatMap(\.changes), parts[own...].flatMap(\.changes))
    }

    private mutating func addOwn() {
        if case .own? = parts.last { return }
        parts.append(.own)
    }

    private mutating func add(_ others: [StorageChange]) {
        if others.isEmpty { return }
        guard case .others(let changes)? = parts.last else { return parts.append(.others(others)) }
        parts[parts.count - 1] = .others(changes + others)
    }
}

extension HistoryNews.Part {
    /// The changes of others.
    fileprivate var changes: [StorageChange] {
        if case .others(let changes) = self { changes } else { [] }
    }
}
