#if Postgres
/// Names and texts in SQL, for statements that can't have parameters.
enum SQLText {

    /// A quoted name.
    static func identifier(_ name: String) -> String { "\"\(doubling(["\""], in: name))\"" }

    /// A string constant, whose meaning does not depend on the setting `standard_conforming_strings`.
    static func literal(_ text: String) -> String { "E'\(doubling(["'", "\\"], in: text))'" }

    /// By scalars: a quotation mark with an accent is one of Swift's characters, and two of the server's.
    private static func doubling(_ special: Set<Unicode.Scalar>, in text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if special.contains(scalar) { scalars.append(scalar) }
            scalars.append(scalar)
        }
        return String(scalars)
    }
}
#endif
