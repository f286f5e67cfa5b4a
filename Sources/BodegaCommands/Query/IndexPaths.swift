import Bodega

/// The paths to the values that an index is over: one, or several that are separated by commas.
struct IndexPaths: Equatable, Sendable, CustomStringConvertible {
    let paths: [JSONPath]
    /// The paths as the user wrote them.
    let description: String

    /// The maximum number of bytes of all paths.
    private static let longest = 1_000

    /// Reads paths such as `born` or `isDone,dueDate`. A backslash escapes a comma in a name.
    ///
    /// - Throws: A ``ToolError`` if one of them is not a path, or makes no sense for an index.
    init(parsing text: String, searchForm: SearchForm? = nil, where condition: IndexCondition? = nil) throws {
        (self.searchForm, self.condition) = (searchForm, condition)
        paths = try Self.texts(in: text).map(JSONPath.init(parsing:))
        description = text
    }

    /// Divides a list at its commas. A backslash escapes a comma in a name.
    static func texts(in list: String) -> [String] {
        var (texts, isEscaped) = ([""], false)
        for scalar in list.unicodeScalars {
            if scalar == ",", !isEscaped {
                texts.append("")
            } else {
                texts[texts.count - 1].unicodeScalars.append(scalar)
            }
            isEscaped = scalar == "\\" && !isEscaped
        }
        return texts
    }

    private var option: String { searchForm == nil ? "--index" : "--search-index" }

    /// Checks that an index over the values makes sense.
    ///
    /// - Throws: A ``ToolError`` if a path has an empty name, if they are very long, or if one is there twice.
    func checkForIndex() throws {
        if paths.contains(where: { $0.names.contains("") }) {
            throw ToolError(
                .usage, "\(option) \(description): a name in the path is empty. Write member names separated by dots.")
        }
        for names in paths.map(\.names) {
            if let advice = Self.advice(names) { throw ToolError(.usage, "\(option) \(description): \(advice)") }
        }
        if description.utf8.count > Self.longest {
            throw ToolError(
                .usage,
                "A path of \(option) has \(description.utf8.count) bytes; the longest has \(Self.longest). Shorten it.")
        }
        if Set(paths.map(\.names)).count < paths.count {
            throw ToolError(.usage, "\(option) \(description): a path is there twice. Write each once.")
        }
    }

    /// What to write instead of a path in the syntax of sorts or filters, whose names hardly any member has.
    private static func advice(_ names: [String]) -> String? {
        if names.last.map({ $0.hasSuffix(":asc") || $0.hasSuffix(":desc") }) == true {
            return "an index serves both directions. Leave out :asc and :desc."
        }
        if names.first == "@" || names.first == "$" {
            return "a path begins with the name of a member, without @ or $."
        }
        if names.contains(where: { $0.hasSuffix("]") && $0.contains("[") }) {
            return "a path has names of members, separated by dots, and no brackets."
        }
        return nil
    }

    /// How texts are divided, if the index is for searches; otherwise `nil`.
    let searchForm: SearchForm?

    /// What items must meet to be in the index; `nil` for all items.
    let condition: IndexCondition?

    /// An index over the values.
    var index: StorageIndex {
        let members = paths.map(\.member)
        if let searchForm { return .search(members.map(\.path), form: searchForm) }
        let index = StorageIndex(members[0], Array(members.dropFirst()))
        return condition?.restricting(index) ?? index
    }

    /// What the index is, for messages.
    var name: String {
        switch searchForm {
        case nil: "index over \(description)\(condition.map { " where \($0)" } ?? "")"
        case .words: "index of the words in \(description)"
        case .substrings: "index of the parts of words in \(description)"
        }
    }
}

extension StorageIndex {
    /// The paths as the tool reads them, without those of a condition.
    var pathsText: String {
        members[constants.count...].map { $0.path.replacing(",", with: "\\,") }.joined(separator: ",")
    }

    /// Whether the index is over the same members as another one, with the same condition, for text or not. One for
    /// searches is of one form.
    func hasPaths(of other: StorageIndex) -> Bool {
        searchForm == other.searchForm && constants == other.constants && members.count == other.members.count
            && zip(members, other.members).allSatisfy { $0.isOver($1.path) }
    }
}
