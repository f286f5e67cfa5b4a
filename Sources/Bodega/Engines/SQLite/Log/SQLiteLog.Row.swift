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
