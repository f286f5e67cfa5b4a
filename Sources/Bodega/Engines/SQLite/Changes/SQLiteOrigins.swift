import DequeModule

/// Who in this process has written which rows of a log.
///
/// What a transaction adds is noted before it ends, so that it is known when others can see it; whether it was committed is
/// known only later. Until then, the note counts if its last row is there.
struct SQLiteOrigins: Sendable {

    /// Rows of one origin.
    struct Note: Hashable, Sendable {
        var first: Int
        var last: SQLiteLogPosition
        let origin: StorageOrigin

        var numbers: ClosedRange<Int> { first...last.number }
    }

    /// What was committed, in the order of the numbers. Neighbours of one origin are one.
    private(set) var settled: Deque<Note> = []
    private var pending: [Int: Note] = [:]
    private var lastID = 0
    /// The versions of the schema at which the notes are known to be about this log. It changes when a log is begun anew or
    /// another history is put into the file.
    private var schemas: Set<Int> = []

    /// Makes sure that the notes are about the log that is there when somebody writes to it, and forgets them if not.
    ///
    /// - Parameters:
    ///   - end: The log's last row.
    ///   - schema: The version of the schema.
    ///   - isThere: Whether a row is there.
    mutating func check(
        against end: SQLiteLogPosition,
        schema: Int,
        _ isThere: (SQLiteLogPosition) throws -> Bool
    ) rethrows {
        if let last = settled.last?.last, last != end {
            let isSame = try last.number < end.number && (schemas.contains(schema) || isThere(last))
            if !isSame { self = SQLiteOrigins(continuing: self) }
        }
        schemas.insert(schema)
    }

    /// Finds out for somebody who reads whether the notes are about the log that he sees.
    mutating func confirm(schema: Int, _ isThere: (SQLiteLogPosition) throws -> Bool) rethrows {
        guard !schemas.contains(schema), let last = settled.last?.last, try isThere(last) else { return }
        schemas.insert(schema)
    }

    init() {}

    private init(continuing origins: SQLiteOrigins) {
        pending = origins.pending
        lastID = origins.lastID
    }

    /// Notes what a transaction adds that has not ended yet.
    ///
    /// - Returns: What the note is settled or dropped by.
    mutating func note(_ note: Note) -> Int {
        lastID += 1
        pending[lastID] = note
        return lastID
    }

    /// The transaction of a note was rolled back.
    mutating func drop(_ id: Int) {
        pending[id] = nil
    }

    /// The transaction of a note was committed.
    mutating func settle(_ id: Int) {
        guard let note = pending.removeValue(forKey: id) else { return }
        // Hardly ever anywhere but at the end: transactions are settled by who commits them, maybe one after the next.
        var index = settled.endIndex
        while index > 0, settled[index - 1].first > note.first { index -= 1 }
        if index > 0, settled[index - 1].isFollowed(by: note) {
            settled[index - 1].last = note.last
            index -= 1
        } else {
            settled.insert(note, at: index)
        }
        if index + 1 < settled.count, settled[index].isFollowed(by: settled[index + 1]) {
            settled[index].last = settled[index + 1].last
            settled.remove(at: index + 1)
        }
        let oldest = note.last.number - SQLiteChangeLog.limit
        while let first = settled.first, first.last.number <= oldest { settled.removeFirst() }
    }

    /// The notes that are about some rows.
    ///
    /// - Parameters:
    ///   - numbers: The rows' numbers.
    ///   - schema: The version of the schema that is in force where they are read.
    /// - Returns: The notes that count, and those that count if their last row is there.
    func notes(about numbers: ClosedRange<Int>, schema: Int) -> (certain: [Note], uncertain: [Note]) {
        let uncertain = pending.values.filter { $0.numbers.overlaps(numbers) }
        guard schemas.contains(schema) else { return ([], uncertain) }
        // The first that ends in the range or behind it.
        var (low, high) = (0, settled.count)
        while low < high {
            let middle = (low + high) / 2
            if settled[middle].last.number < numbers.lowerBound { low = middle + 1 } else { high = middle }
        }
        return (settled[low...].prefix { $0.first <= numbers.upperBound }, uncertain)
    }
}

extension SQLiteOrigins.Note {
    fileprivate func isFollowed(by other: Self) -> Bool {
        origin == other.origin && last.number + 1 == other.first
    }
}
