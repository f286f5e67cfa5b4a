/// Numbers with nouns, in the singular or the plural.
enum Counted {
    /// A number and a noun, such as "1 item" and "2 items".
    ///
    /// - Parameters:
    ///   - singular: The noun for one.
    ///   - plural: The noun for other numbers; by default with an s.
    static func text(_ count: Int, _ singular: String, _ plural: String? = nil) -> String {
        "\(count) \(count == 1 ? singular : plural ?? singular + "s")"
    }

    /// "was" or "were".
    static func past(_ count: Int) -> String { count == 1 ? "was" : "were" }
}
