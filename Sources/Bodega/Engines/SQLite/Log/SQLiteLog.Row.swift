extension SQLiteLog {
    /// A row of a change log: its number, and a nonce that distinguishes it from the row of the same number in another
    /// log, for example in the log of a restored backup.
    struct Row: Hashable, Sendable {
        let number: Int
        let nonce: Int

        init(number: Int, nonce: Int) {
            self.number = number
            self.nonce = nonce
        }

        /// - Returns: `nil` for the cursor of another engine.
        init?(_ cursor: StorageCursor) {
            let parts = cursor.rawValue.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let number = Int(parts[0]), number >= 0, let nonce = Int(parts[1])
            else { return nil }
            self.init(number: number, nonce: nonce)
        }

        var cursor: StorageCursor { StorageCursor(rawValue: "\(number)/\(nonce)") }
    }
}

extension SQLiteLog {
    /// The part of a change log that one change of a collection takes up.
    struct Span: Sendable {
        /// The last row before the change.
        let before: SQLiteLog.Row
        /// The last row of the change; the same as ``before`` if nothing has changed.
        let after: SQLiteLog.Row
        let origin: StorageOrigin

        var commit: StorageCommit { StorageCommit(before: before.cursor, after: after.cursor) }
    }
}
