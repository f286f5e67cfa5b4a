/// How a text is divided for a search.
public enum SearchForm: String, Hashable, Codable, Sendable {
    /// Into words: runs of letters and digits, without case and diacritics, so that "Élan" is found by "elan".
    ///
    /// The rule is that of the tokenizer `unicode61` of SQLite's FTS5 with the option `remove_diacritics 2`. Unicode
    /// decides about letters, not a language: "don't" is the two words "don" and "t". Diacritics are dropped from Latin
    /// letters only.
    case words

    /// Into characters, without case: a search finds each part of a text, also within a word.
    ///
    /// This is the form for texts in scripts without spaces, such as Chinese and Japanese, and for identifiers and file
    /// names. Letters with and without diacritics differ. The length of a text is its number of trigrams, as it is for
    /// the tokenizer `trigram` of FTS5.
    case substrings
}
