import Bodega

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
    private(set) var cursor: StorageCursor

    /// Nothing so far.
    init(since cursor: StorageCursor) {
        self.cursor = cursor
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

    /// Adds what was read next.
    ///
    /// - Parameters:
    ///   - delta: The changes. If all of them are own ones, they may be left out.
    ///   - origin: Who makes the own ones.
    mutating func add(_ delta: StorageDelta, readBy origin: StorageOrigin) {
        if delta.changes.isEmpty, delta.cursor != cursor { addOwn() }
        var others: [StorageChange] = []
        for change in delta.changes {
            if change.origin != origin {
                others.append(change)
                continue
            }
            add(others)
            others = []
            addOwn()
        }
        add(others)
        cursor = delta.cursor
    }

    /// Adds what follows.
    mutating func add(_ more: HistoryNews) {
        for part in more.parts {
            switch part {
            case .own: addOwn()
            case .others(let changes): add(changes)
            }
        }
        cursor = more.cursor
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
