package import Bodega
package import Foundation

/// An item of lists that are sorted by several properties, with many equal values.
package struct Chore: Queryable, Sendable, Equatable {
    package var id: Int
    package var isDone: Bool
    package var priority: Int
    package var title: String?
    package var rank: Int?
    package var date: Date

    package static let indexes = [
        Index("priority", \Chore.priority).then("title", \Chore.title),
        Index("isDone", \Chore.isDone).then("priority", \Chore.priority).then("date", \Chore.date),
        Index("priority", \Chore.priority).then("rank", \Chore.rank).then("date", \Chore.date),
    ]

    /// - Parameter id: The place in insertion order, which is that of no property.
    package init(_ id: Int) {
        self.id = id
        isDone = id % 3 == 0
        priority = id * 7 % 4
        title = id % 11 == 5 ? nil : "chore \(id * 7_919 % 1_009)"
        rank = id % 13 == 6 ? nil : id / 4 % 3
        date = Date(timeIntervalSinceReferenceDate: 7e8 + Double(id * 31 % 97) + 0.5)
    }
}

/// A sorted list of chores, and what it should be.
package struct ChoreList: Sendable, CustomStringConvertible {
    package enum Term: CaseIterable, Sendable { case priority, title, rank, date }

    package let terms: [(term: Term, isDescending: Bool)]
    package let isOpen: Bool

    package var description: String {
        let terms = terms.map { "\($0.term)\($0.isDescending ? " descending" : "")" }.joined(separator: ", ")
        return (isOpen ? "open ones by " : "all by ") + terms
    }

    /// Lists in all directions.
    package static let all: [ChoreList] = {
        let orders: [(terms: [Term], isOpen: Bool)] = [
            ([.priority, .title], false), ([.priority, .date], true), ([.priority, .rank, .date], false),
        ]
        return orders.flatMap { order in
            (0..<1 << order.terms.count).map { directions in
                let terms = order.terms.enumerated().map { ($1, directions >> $0 & 1 == 1) }
                return ChoreList(terms: terms, isOpen: order.isOpen)
            }
        }
    }()

    package var query: Query<Chore> {
        let descriptors = terms.map { term, isDescending in
            let order: SortOrder = isDescending ? .reverse : .forward
            return switch term {
            case .priority: SortDescriptor(\Chore.priority, order: order)
            case .title: SortDescriptor(\Chore.title, order: order)
            case .rank: SortDescriptor(\Chore.rank, order: order)
            case .date: SortDescriptor(\Chore.date, order: order)
            }
        }
        let query = isOpen ? Query<Chore>(where: #Predicate { !$0.isDone }) : Query<Chore>()
        return query.sorted(by: descriptors)
    }

    /// The chores of the list, of chores in insertion order.
    package func chores(of chores: [Chore]) -> [Chore] {
        chores.filter { !isOpen || !$0.isDone }.enumerated().sorted { left, right in
            for (term, isDescending) in terms {
                let (first, second) = (term.value(of: left.element), term.value(of: right.element))
                guard let first, let second else {
                    // Chores without a value come last in both directions.
                    if first == nil, second == nil { continue }
                    return second == nil
                }
                if first < second { return !isDescending }
                if second < first { return isDescending }
            }
            return left.offset < right.offset
        }.map(\.element)
    }
}

extension ChoreList.Term {
    /// The value as a text that is ordered like it; `nil` if there is none.
    fileprivate func value(of chore: Chore) -> String? {
        switch self {
        case .priority: "\(chore.priority)"
        case .title: chore.title
        case .rank: chore.rank.map { "\($0)" }
        case .date: "\(Int(chore.date.timeIntervalSinceReferenceDate))"
        }
    }
}

extension ChoreList {
    /// Reads the pages of all lists, and compares them with arrays.
    ///
    /// - Parameters:
    ///   - base: An engine without items.
    ///   - count: The number of chores.
    /// - Returns: What is wrong.
    package static func findDefects(in base: any StorageBackend, count: Int) async throws -> [String] {
        let chores = (0..<count).map { Chore($0) }
        let engine = CountingItems(of: base)
        let storage = ObjectStorage<Chore>(storage: engine)
        try await storage.store(chores.map { (CacheKey("\($0.id)"), $0) })
        try await storage.createIndexes()
        var defects: [String] = []
        for list in all {
            let expected = list.chores(of: chores)
            var (found, cursor, pages) = ([Chore](), QueryCursor?.none, 0)
            repeat {
                _ = engine.take()
                let page = try await storage.fetch(list.query, limit: 50, after: cursor)
                let read = engine.take()
                // The page and the place where it begins, the items of groups that turn out to be large, and the first
                // item of each range in which the page need not go on.
                let groups = list.terms.count == 2 ? [9, 17] : [9, 17, 33]
                let most = 51 + 1 + groups.reduce(0, +) + 8
                if read > most { defects.append("\(list): page \(pages) reads \(read) items") }
                found += page.objects
                (cursor, pages) = (page.next, pages + 1)
            } while cursor != nil && found.count < expected.count
            if found != expected { defects.append("\(list): found \(found.map(\.id)), not \(expected.map(\.id))") }
            let all = try await storage.fetch(list.query).objects
            if all != expected { defects.append("\(list): found \(all.map(\.id)) without a limit") }
        }
        return defects
    }
}
