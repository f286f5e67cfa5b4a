#if Postgres
/// Names and texts in SQL, for statements that can't have parameters.
enum SQLText {

    /// A quoted name.
    static func identifier(_ name: String) -> String {
        "\"" + name.replacing("\"", with: "\"\"") + "\""
    }

    /// A string constant, whose meaning does not depend on the setting `standard_conforming_strings`.
    static func literal(_ text: String) -> String {
        "E'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
}
#endif
