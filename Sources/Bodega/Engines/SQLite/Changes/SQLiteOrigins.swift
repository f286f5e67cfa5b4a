import DequeModule

/// Who in this process has written which rows of a log.
///
/// What a transaction adds is noted before it ends, so that it is known when others can see it; whether it was committed is
/// known only later. Until then, the note counts if its last row is there.
///
/// What was committed counts if a later row of the same notes is there, or its own last one: all of them are about one
/// history, because each transaction makes sure of that before it adds one. Nothing else proves it. Another program can
/// empty the log, or put another file's contents into the file, and leave even the version of the schema as it was.
struct SQLiteOrigins: Sendable {

    /// Rows of one origin.
    struct Note: Hashable, Sendable {
        var first: Int
        var last: SQLiteLogPosition
        let origin: StorageOrigin

        var numbers: ClosedRange<Int> { first...last.number }
    }

    /// How many transactions' ends are kept. Who reads sees the file as it was that many transactions of ours ago at most.
    private static let endLimit = 4096

    /// What was committed, in the order of the numbers. Neighbours of one origin are one.
    private(set) var settled: Deque<Note> = []
    /// The last rows of the newest transactions that were committed, in the order of the numbers.
    private var ends: Deque<SQLiteLogPosition> = []
    private var pending: [Int: Note] = [:]
    private var lastID = 0
    private var lastNoted: SQLiteLogPosition?

    /// Whether it is certain that all transactions under way note what they add.
    var areComplete = false

    /// The version of the schema at which there was no log.
    var schemaWithoutLog: Int?

    /// The row that must be in the log for the notes to be about it.
    ///
    /// - Parameter end: The log's last row.
    /// - Returns: `nil` if the end proves it.
    func proof(excluding end: SQLiteLogPosition) -> SQLiteLogPosition? {
        lastNoted == end || ends.last == end ? nil : ends.last
    }

    /// Forgets all notes, because they are about another history.
    ///
    /// - Parameter proof: The row that is not there. If it is not the one that is asked for any more, nothing is forgotten.
    mutating func forget(without proof: SQLiteLogPosition) {
        guard ends.last == proof else { return }
        (settled, ends, pending, lastNoted) = ([], [], [:], nil)
    }

    /// Notes what a transaction adds that has not ended yet.
    ///
    /// - Returns: What the note is settled or dropped by.
    mutating func note(_ note: Note) -> Int {
        lastID += 1
        pending[lastID] = note
        lastNoted = note.last
        return lastID
    }

    /// The transaction of a note was rolled back.
    mutating func drop(_ id: Int) {
        pending[id] = nil
    }

    /// The transaction of a note was committed.
    mutating func settle(_ id: Int) {
        guard let note = pending.removeValue(forKey: id) else { return }
        noteEnd(note.last)
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

    private mutating func noteEnd(_ end: SQLiteLogPosition) {
        var index = ends.endIndex
        while index > 0, ends[index - 1].number > end.number { index -= 1 }
        ends.insert(end, at: index)
        if ends.count > Self.endLimit { ends.removeFirst() }
    }

    /// The notes that are about some rows, up to the last row that somebody sees.
    ///
    /// - Returns: The notes that count if a row is there that proves it, that row, and those each of which counts if its
    ///   last row is there.
    func notes(about numbers: ClosedRange<Int>) -> (settled: [Note], proof: SQLiteLogPosition?, pending: [Note]) {
        let uncertain = pending.values.filter { $0.numbers.overlaps(numbers) }
        // Behind the last transaction that he can see, no row is ours.
        let proof = ends[..<firstIndex(in: ends) { $0.number > numbers.upperBound }].last
        guard let proof, proof.number >= numbers.lowerBound else { return ([], nil, uncertain) }
        let low = firstIndex(in: settled) { $0.last.number >= numbers.lowerBound }
        let certain = settled[low...].prefix { $0.first <= proof.number }.map { note in
            note.last.number > proof.number ? Note(first: note.first, last: proof, origin: note.origin) : note
        }
        return (certain, proof, uncertain)
    }

    /// The index of the first element that is so, as are all behind it.
    private func firstIndex<Element>(in elements: Deque<Element>, where isSo: (Element) -> Bool) -> Int {
        var (low, high) = (0, elements.count)
        while low < high {
            let middle = (low + high) / 2
            if isSo(elements[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension SQLiteOrigins.Note {
    fileprivate func isFollowed(by other: Self) -> Bool {
        origin == other.origin && last.number + 1 == other.first
    }
}
