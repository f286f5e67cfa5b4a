import Foundation
import GRDB

extension SQLiteTable {

    /// Applies operations in order, inside of a transaction.
    ///
    /// - Parameters:
    ///   - operations: The operations.
    ///   - date: The date of all writes.
    ///   - origin: The origin of the changes, for batches that write the log without triggers.
    func apply(_ batch: StorageBatch, at date: Date, in db: Database) throws {
        let operations = batch.operations
        if batch.dates.isEmpty { return try apply(operations[...], [:], at: date, by: batch.origin, in: db) }
        // Items with dates of their own are written by another statement.
        var start = operations.startIndex
        while start < operations.endIndex {
            let isDated = batch.hasDates(operations[start])
            let end = operations[start...].firstIndex { batch.hasDates($0) != isDated } ?? operations.endIndex
            try apply(
                operations[start..<end], batch.dates, at: isDated ? nil : date, by: batch.origin, in: db)
            start = end
        }
    }

    private func apply(
        _ operations: ArraySlice<StorageOperation>, _ dates: [CacheKey: StorageDates], at date: Date?,
        by origin: StorageOrigin?, in db: Database
    ) throws {
        let removesAll = operations.contains { if case .removeAll = $0 { true } else { false } }
        try writing(removesAll ? .max : operations.count, at: date, by: origin, in: db) { writer in
            for operation in operations {
                // An interrupt would be lost between two statements.
                try LockHolders.shared.check()
                switch operation {
                case .write(let key, let data):
                    if date == nil, let dates = dates[key] { try writer.set(dates) }
                    try writer.write(.data(data), key: key)
                case .remove(let key): try writer.remove(key)
                case .removeAll: try writer.removeAll()
                }
            }
        }
    }

    /// Writes an item, inside of a transaction. See ``apply(_:at:by:in:)``.
    func write(_ data: Data, key: CacheKey, at date: Date, in db: Database) throws {
        try writing(1, at: date, by: nil, in: db) { try $0.write(.data(data), key: key) }
    }

    /// Writes an item of zeros, inside of a transaction. See ``apply(_:at:by:in:)``.
    func writeZeros(count: Int, key: CacheKey, at date: Date, in db: Database) throws {
        try writing(1, at: date, by: nil, in: db) { try $0.write(.zeros(count), key: key) }
    }

    /// Changes the table. Nothing else does, because every change must reach the log.
    ///
    /// - Parameters:
    ///   - count: The approximate number of rows that are changed.
    ///   - date: The date of all writes, `nil` if each item has its own.
    ///   - origin: The origin of the changes, for batches that write the log without triggers.
    private func writing(
        _ count: Int,
        at date: Date?,
        by origin: StorageOrigin?,
        in db: Database,
        _ body: (inout Writer) throws -> Void
    ) throws {
        try SQLiteLog.Writer.replacingTriggers(of: log, ifWorthFor: count, origin: origin, in: db) { log in
            var writer = try Writer(table: self, db: db, log: log, date: date)
            try body(&writer)
            try writer.finish()
        }
    }

    /// The prepared statements for the operations of one transaction.
    ///
    /// With a log writer, no triggers run, and this logs each change as the triggers would.
    private struct Writer {
        private let table: SQLiteTable
        private let db: Database
        private let log: SQLiteLog.Writer?
        private var numbers: SQLiteRowNumbers
        private var upsert: SQLiteStatement
        /// Whether new rows may get a number from `numbers`.
        private var isNumbered = false
        private var boundKind: Int?
        /// The date of all writes, or of the next one.
        private var updatedAt: String
        /// The date of the first write of the next item, if each item has its own dates.
        private var createdAt: String?

        init(table: SQLiteTable, db: Database, log: SQLiteLog.Writer?, date: Date?) throws {
            self.table = table
            self.db = db
            self.log = log
            numbers = try SQLiteRowNumbers(of: table, in: db)
            upsert = try SQLiteStatement(date == nil ? table.datedUpsert : table.upsert, in: db)
            (updatedAt, createdAt) = (date.map(SQLiteDate.text) ?? "", date == nil ? "" : nil)
            try bindDates()
        }

        /// Binds the value that all rows share, or the dates of the next one.
        private func bindDates() throws {
            try upsert.bindCopy(of: updatedAt, at: 3)
            if let createdAt { try upsert.bindCopy(of: createdAt, at: 5) }
        }

        /// Uses a statement with which new rows can get other numbers than SQLite would give them.
        private mutating func numberRows() throws {
            isNumbered = true
            upsert = try SQLiteStatement(
                createdAt == nil ? table.numberedUpsert : table.numberedDatedUpsert, in: db)
            boundKind = nil
            try bindDates()
        }

        /// Sets the dates of the items that are written next.
        mutating func set(_ dates: StorageDates) throws {
            updatedAt = SQLiteDate.text(of: dates.updatedAt)
            createdAt = SQLiteDate.text(of: dates.createdAt)
            try bindDates()
        }

        /// Completes the transaction.
        func finish() throws {
            try numbers.keep()
        }

        /// Writes an item at its home or, if another item is there, at its detour; see ``SQLiteKey``.
        mutating func write(_ value: SQLiteValue, key: CacheKey) throws {
            let position = SQLiteKey(key)
            if let original = position.original {
                let place = try settle(position, original)
                return try write(value, text: place, kind: position.kind, orThrowFor: key)
            }
            guard let home = position.home else {
                return try write(value, text: position.detour, kind: position.kind, orThrowFor: key)
            }
            if key.kind == .hashed {
                if try upsert(value, text: home, kind: position.kind) { return }
                try clear(home: home)
                try write(value, text: home, kind: position.kind, orThrowFor: key)
            } else if try has(position.detour) {
                try write(value, text: position.detour, kind: position.kind, orThrowFor: key)
            } else if try !upsert(value, text: home, kind: position.kind) {
                try write(value, text: position.detour, kind: position.kind, orThrowFor: key)
            }
        }

        /// Removes an item if there is one.
        mutating func remove(_ key: CacheKey) throws {
            let position = SQLiteKey(key)
            if key.kind == .hashed {
                try remove(text: position.home ?? position.detour, where: "kind IS NULL OR kind = 0")
            } else {
                let own = "kind = \(position.kind)"
                if let original = position.original { try remove(text: original, where: "kind IS NULL") }
                if try remove(text: position.detour, where: own) { return }
                guard let home = position.home else { return }
                try remove(text: home, where: position.original == nil ? "kind IS NULL OR \(own)" : own)
            }
        }

        /// Removes all items.
        mutating func removeAll() throws {
            try numbers.willRemove()
            try log?.addRemovalOfAll()
            for search in try SQLiteSearchIndex.all(of: table, in: db) { try search.removeAll(in: db) }
            try db.execute(sql: "DELETE FROM \(table.name)")
        }

        /// - Returns: `false` if the row belongs to a key of another kind.
        private mutating func upsert(_ value: SQLiteValue, text: String, kind: Int) throws -> Bool {
            if numbers.mayDiffer, !isNumbered { try numberRows() }
            if boundKind != kind {
                try upsert.bind(kind, at: 4)
                boundKind = kind
            }
            // A row of Bodega 2 turns into another item if it gets a kind other than hashed.
            if kind != 0 { try log?.addRemoval(of: text, where: "kind IS NULL") }
            let number = try numbers.next()
            if let number { try upsert.bind(number, at: 6) } else if isNumbered { try upsert.bindNull(at: 6) }
            defer { upsert.reset() }
            let isWritten = try upsert.bind(text, at: 1) {
                try upsert.bind(value, at: 2) {
                    _ = try upsert.step()
                    return upsert.changes > 0
                }
            }
            if isWritten { try log?.addWrite(of: text, kind: kind) }
            return isWritten
        }

        private mutating func write(_ value: SQLiteValue, text: String, kind: Int, orThrowFor key: CacheKey) throws {
            guard try upsert(value, text: text, kind: kind) else {
                throw StorageError(.damaged, "The item's row belongs to a key of another kind.", key: key)
            }
        }

        /// Merges a URL's row and Bodega 2's original row for it. If only the latter exists, it keeps its place.
        ///
        /// - Returns: The text of the row, which may not exist yet.
        private mutating func settle(_ position: SQLiteKey, _ original: String) throws -> String {
            let detour = position.detour
            var own: String?
            var (isHomeTaken, isOriginalThere) = (false, false)
            for (text, kind) in try rows(among: [position.home ?? detour, detour, original]) {
                if text.hasSameBytes(as: detour) {
                    own = detour
                } else if text.hasSameBytes(as: original) {
                    isOriginalThere = kind == nil
                } else if kind == position.kind {
                    own = own ?? text
                } else {
                    isHomeTaken = true
                }
            }
            let place = own ?? (isHomeTaken ? nil : position.home) ?? detour
            if isOriginalThere, own != nil {
                try remove(text: original, where: "kind IS NULL")
            } else if isOriginalThere {
                try log?.addRemoval(of: original, where: "1")
                try move(original, to: place, kind: position.kind)
                try log?.addWrite(at: place)
            }
            return place
        }

        /// Moves a key that is not hashed from its home to its detour. It keeps its place in the order.
        private func clear(home: String) throws {
            let key = SQLiteKey.key(text: home, kind: try kind(at: home))
            let occupant = SQLiteKey(key)
            // The item has a kind that only a newer version knows. At the detour it is another item to this version.
            if key.kind == .hashed { try log?.addRemoval(of: home, where: "1") }
            try move(home, to: occupant.detour)
            if key.kind == .hashed { try log?.addWrite(at: occupant.detour) }
        }

        /// - Parameter kind: The kind to set; `nil` to keep the row's kind.
        private func move(_ text: String, to place: String, kind: Int? = nil) throws {
            let setting = kind.map { ", kind = \($0)" } ?? ""
            let statement = try SQLiteStatement("UPDATE \(table.name) SET key = ?2\(setting) WHERE key = ?1", in: db)
            defer { statement.reset() }
            try statement.bind(text, at: 1) {
                try statement.bind(place, at: 2) { _ = try statement.step() }
            }
        }

        /// The rows under three texts.
        private func rows(among texts: [String]) throws -> [(text: String, kind: Int?)] {
            let statement = try SQLiteStatement("SELECT key, kind FROM \(table.name) WHERE key IN (?1, ?2, ?3)", in: db)
            defer { statement.reset() }
            var rows: [(text: String, kind: Int?)] = []
            try statement.bind(texts[0], at: 1) {
                try statement.bind(texts[1], at: 2) {
                    try statement.bind(texts[2], at: 3) {
                        while try statement.step() { rows.append((statement.text(at: 0), statement.integer(at: 1))) }
                    }
                }
            }
            return rows
        }

        private func kind(at text: String) throws -> Int? {
            let statement = try SQLiteStatement("SELECT kind FROM \(table.name) WHERE key = ?1", in: db)
            defer { statement.reset() }
            return try statement.bind(text, at: 1) { try statement.step() ? statement.integer(at: 0) : nil }
        }

        private func has(_ text: String) throws -> Bool {
            let statement = try SQLiteStatement("SELECT 1 FROM \(table.name) WHERE key = ?1", in: db)
            defer { statement.reset() }
            return try statement.bind(text, at: 1) { try statement.step() }
        }

        @discardableResult
        private mutating func remove(text: String, where condition: String) throws -> Bool {
            try numbers.willRemove()
            try log?.addRemoval(of: text, where: condition)
            let sql = "DELETE FROM \(table.name) WHERE key = ?1 AND (\(condition))"
            let statement = try SQLiteStatement(sql, in: db)
            defer { statement.reset() }
            return try statement.bind(text, at: 1) {
                _ = try statement.step()
                return statement.changes > 0
            }
        }
    }
}

extension StorageBatch {
    /// Whether an operation writes an item with dates of its own.
    fileprivate func hasDates(_ operation: StorageOperation) -> Bool {
        if case .write(let key, _) = operation { dates[key] != nil } else { false }
    }
}
