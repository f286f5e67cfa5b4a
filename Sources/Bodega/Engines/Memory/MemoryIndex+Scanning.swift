extension MemoryIndex {

    /// The rows that a scan passes on: some in their order, then others in the descending order of a member's keys,
    /// with equal keys in insertion order.
    struct Part: Sequence, IteratorProtocol {
        private let rows: MemoryRows
        /// The number of the member that has the order, `nil` for irregular items.
        let member: Int?
        private var ascending: Range<MemoryRows.Location>
        private var descending: Range<MemoryRows.Location>

        fileprivate init(
            _ rows: MemoryRows, _ member: Int?, ascending: Range<MemoryRows.Location>?,
            descending: Range<MemoryRows.Location>? = nil
        ) {
            (self.rows, self.member) = (rows, member)
            self.ascending = ascending ?? rows.start..<rows.start
            self.descending = descending ?? rows.start..<rows.start
        }

        /// The number of rows.
        var count: Int { rows.count(ascending) + rows.count(descending) }

        mutating func next() -> MemoryRows.Row? {
            if ascending.isEmpty {
                if descending.isEmpty { return nil }
                let start = startOfLastKey()
                ascending = start..<descending.upperBound
                descending = descending.lowerBound..<start
            }
            let row = rows[ascending.lowerBound]
            ascending = rows.location(after: ascending.lowerBound)..<ascending.upperBound
            return row
        }

        /// The place of the first row that has the key of the last one of those in descending order.
        private func startOfLastKey() -> MemoryRows.Location {
            let last = rows.location(before: descending.upperBound)
            guard let member, last > descending.lowerBound else { return descending.lowerBound }
            let key = rows[last].sortKey(member)
            // Most keys are different.
            if rows[rows.location(before: last)].sortKey(member) != key { return last }
            let equal = (0..<member).map(rows[last].sortKey)
            let start = rows.location(of: .before(key), after: equal)
            return start < descending.lowerBound ? descending.lowerBound : start
        }
    }

    /// The rows of a scan of this index.
    ///
    /// - Throws: ``StorageError/Code/invalidArgument`` if the index has no such member, or its order no such place.
    func part(_ scan: StorageScan) throws -> Part {
        switch scan {
        case .search: throw StorageError.hasNoSearchIndex
        case .all, .irregular: return Part(irregular, nil, ascending: irregular.start..<irregular.end)
        // All numbers are exact.
        case .approximate: return Part(rows, nil, ascending: nil)
        case .range(_, let equal, var lower, let upper, let isDescending, let place):
            guard equal.count < index.members.count else {
                throw StorageError(.invalidArgument, "The index \(index) has no member after \(equal.count) others.")
            }
            // Such a range is that of no value.
            if upper == .end { lower = .before(.none) }
            let start = rows.location(of: lower, after: equal)
            let upperLocation = rows.location(of: upper, after: equal)
            let end = upperLocation < start ? start : upperLocation
            guard let place else {
                let isAscending = !isDescending || upper == .end
                return Part(
                    rows, equal.count, ascending: isAscending ? start..<end : nil,
                    descending: isAscending ? nil : start..<end)
            }
            guard equal.count == index.others.count else { throw StorageError.hasNoPlaces }
            guard let key = place.sortKey else { throw StorageError.needsSortKey }
            func inRange(_ location: MemoryRows.Location) -> MemoryRows.Location {
                location < start ? start : location < end ? location : end
            }
            let next = inRange(rows.location(of: equal + [key], position: place.position))
            if !isDescending || upper == .end { return Part(rows, equal.count, ascending: next..<end) }
            // Items without a value come last in both orders.
            if key == .none { return Part(rows, equal.count, ascending: nil) }
            return Part(
                rows, equal.count, ascending: next..<inRange(rows.location(of: .after(key), after: equal)),
                descending: start..<inRange(rows.location(of: .before(key), after: equal)))
        }
    }
}

extension MemoryRows {
    /// The place of a bound of a member's sort keys, among the rows with certain keys of the members before it.
    fileprivate func location(of bound: StorageSortKeyBound, after equal: [StorageSortKey]) -> Location {
        firstLocation { row in
            for (member, key) in equal.enumerated() where row.sortKey(member) != key {
                return key < row.sortKey(member)
            }
            return bound <= .before(row.sortKey(equal.count))
        }
    }

    /// The place after a row with certain sort keys and a position, which need not exist.
    fileprivate func location(of keys: [StorageSortKey], position: Int) -> Location {
        firstLocation { row in
            for (member, key) in keys.enumerated() where row.sortKey(member) != key {
                return key < row.sortKey(member)
            }
            return row.position > position
        }
    }
}
