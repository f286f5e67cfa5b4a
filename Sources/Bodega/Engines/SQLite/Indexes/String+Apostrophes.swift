extension String {
    /// The text for SQL within apostrophes: one with an accent is one of Swift's characters, and two of SQLite's.
    var doublingApostrophes: String {
        String(String.UnicodeScalarView(unicodeScalars.flatMap { $0 == "'" ? ["'", "'"] : [$0] }))
    }
}
