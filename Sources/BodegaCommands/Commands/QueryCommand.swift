#if CommandLineTool
import ArgumentParser
import Bodega

/// `bodega query`.
struct QueryCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Find JSON items by their content, and manage indexes.",
        discussion: """
            --where takes a filter expression of RFC 9535 (JSONPath), with @ for the item: comparisons (== != < <= > \
            >=), && || ! and parentheses, existence tests (@.draft), names and indexes (@.authors[0]['last name']), \
            literals, and the functions length(@.a), match(@.a, 'regular expression') and search(@.a, 'regular \
            expression'). Not supported are queries with several results (*, .., slices), $, count and value. As the \
            RFC defines it, values of different types are never equal and have no order. Numbers are compared exactly, \
            with all their digits.

            Regular expressions are those of RFC 9485: . is any character except a line end, ^ and $ are ordinary \
            characters, match is for a whole string and search for a part of it, classes are [a-z] and \\p{Lu}, and \
            there is no \\d, \\w or \\s. An invalid expression is an error, although by RFC 9535 it matches nothing; \
            so is one with more than about a thousand characters after each {n} is written out.

            --search finds items by words in the values that --search-in names, which are strings or arrays of \
            strings. All words must occur, in any of the values; "two words" in quotation marks are a phrase, and swi* \
            is the beginning of a word. OR, AND, NOT and a minus sign before a word combine them, with parentheses. \
            Case and diacritics do not count. With --substrings, any part of a text is found, also within a word. \
            Without --sort, the most relevant items come first. Without --substrings, a text without any word, such as \
            one of punctuation alone, is no condition. The texts of an array are those of one value, on lines of their \
            own.

            --sort, --select, --search-in, --include and --index take member names separated by dots, such as \
            owner.name, or several of them separated by commas; a backslash comes before a comma in a name. The \
            direction to sort in, asc or desc, follows a colon; it is required after a name that contains a colon. \
            Items with equal first values are sorted by the second ones, and so on. In ascending order, numbers come \
            first, with false and true as 0 and 1, then strings, by their Unicode scalars. Arrays and objects count as \
            strings: their JSON text without whitespace. A number that is not an integer of 64 bits counts as the \
            nearest double. Items without the value, or with null, come last in both directions. Items with equal \
            values, and all items without --sort and --search, come in the order in which they were first written.

            Items are printed as they are found, and reading stops at the limit, without --sort and --search, and in \
            the order of an index. Otherwise all items that an index does not leave out are read, and those that are \
            found are sorted. An item that another program changes in the meantime may be missing, or be printed \
            twice. Items that are not JSON are left out, and the number of those that were read is reported on \
            standard error. If an item is encrypted and can't be decrypted, it is unknown whether it meets the \
            condition: the others are printed, its key is listed on standard error, and the exit status is 1.

            Each line has the key and the item, or the selected values, separated by tabs; on a terminal it is a \
            table. With --json each line is an object {"key", "kind" if it is not hashed, "json"}, which import reads. \
            --include also prints the items that an item names in a member, by a reference that a program has \
            declared; bodega stat prints these. Items that don't exist are left out. They are in a column of their \
            own, with --json in "included", by the paths: an item or null, for a list of identifiers a list.

            With --count only the number of items is printed, with --json as {"count"}. If an index alone can count, \
            items with the value count even if they are not in UTF-8.

            An index over a value makes queries faster that compare it with a literal or sort by it, and never changes \
            their results. --index creates one in an SQLite file or a database, --drop-index removes it, and all \
            programs that write keep it up to date. Without other options of a query, nothing else is done. Creating \
            an index reads all items; if it is interrupted, that index is not created, and the message names those \
            that were. One for searches is continued by the same command. Folders and encrypted items have no indexes. \
            An index over several values, separated by commas, serves conditions that the first ones equal a literal, \
            together with a range or the order of the next one. With --index-where, the index has only the items that \
            meet a condition, and those without the value: comparisons of values with literals by ==, joined by &&. \
            Such an index is smaller, and serves queries whose --where has the same comparisons, joined to others by \
            &&. \
            --search-index creates an index for searches in an SQLite file or PostgreSQL, with --substrings in an \
            SQLite file only. It serves --search in the same values, in the same order, with --substrings if it was \
            created with that. --drop-search-index removes it. It is created in parts, and searches bring it up to \
            date. \
            --indexes prints the path of each index and its kind, with --json as {"path", "kind"}: value, or text for \
            one that a program has created for comparing texts as Swift does, one for each value; words or substrings \
            for searches. It also prints the condition of one for some items, with --json as "where", with false and \
            true as 0 and 1. --explain runs the query, and prints, instead of items, how it reads the store, how many \
            items it has read and examined, the indexes, which others would help, and how many items are outside of \
            the index that is used, so that each query reads them: those that are not JSON, have escapes like \
            \\u00e9, or, in an index over text, have very long or unusual ones. \
            With --json it prints {"plan", "indexes", "advice", "read", "examined", "outside", "searchAdvice"}.

            EXAMPLES:
              bodega query people.db --where 'match(@.name, "A.*")' --limit 10
              bodega query people.db --where '!@.email || length(@.tags) == 0' --json
              bodega query people.db --sort born:desc,name --select name,born --limit 3
              bodega query people.db --where '@.born > 1990' --count
              bodega query notes.db --search 'swift -java' --search-in title --limit 20
              bodega query people.db --index born --index country,name.last
              bodega query notes.db --index dueDate --index-where '@.isDone == false'
              bodega query notes.db --search-index title,body
              bodega query people.db --where '@.born > 1990' --explain
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var output: OutputOptions

    @Option(
        name: .customLong("where"), help: ArgumentHelp("The condition that items must meet.", valueName: "condition"))
    var condition: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The words that items must have, with --search-in.", valueName: "words"))
    var search: String?

    @Option(help: ArgumentHelp("Search these values; can be repeated.", valueName: "path,..."))
    var searchIn: [String] = []

    @Flag(help: "Find parts of words, too, and texts without spaces.")
    var substrings = false

    @Option(
        help: ArgumentHelp(
            "Sort by these values; append :desc for descending order. Can be repeated.", valueName: "path,..."))
    var sort: [String] = []

    @Option(
        help: ArgumentHelp("Show these values instead of the whole item; can be repeated.", valueName: "path,..."))
    var select: [String] = []

    @Option(
        help: ArgumentHelp(
            "Also print the items that each item names in these members; can be repeated.",
            valueName: "path,..."))
    var include: [String] = []

    // A negative number is reported as such, not as an option that follows.
    @Option(
        parsing: .unconditional, help: ArgumentHelp("The maximum number of items to find.", valueName: "count"))
    var limit: Int?

    @Flag(help: "Print only the number of items.")
    var count = false

    @Flag(help: "Print how the query has read the store, instead of items.")
    var explain = false

    @Option(help: ArgumentHelp("Create an index over these values first; can be repeated.", valueName: "path,..."))
    var index: [String] = []

    @Option(help: ArgumentHelp("Remove the index over these values first; can be repeated.", valueName: "path,..."))
    var dropIndex: [String] = []

    @Option(
        help: ArgumentHelp(
            "The condition of the items in the indexes that --index and --drop-index name.", valueName: "condition"))
    var indexWhere: String?

    @Option(
        help: ArgumentHelp(
            "Create an index for searches in these values first; can be repeated.", valueName: "path,..."))
    var searchIndex: [String] = []

    @Option(
        help: ArgumentHelp(
            "Remove the index for searches in these values first; can be repeated.", valueName: "path,..."))
    var dropSearchIndex: [String] = []

    @Flag(help: "Print the indexes, instead of items.")
    var indexes = false

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must not be negative.") }
        if count, !select.isEmpty || !include.isEmpty || !sort.isEmpty {
            throw ValidationError("--count excludes --select, --include and --sort.")
        }
        if (search == nil) != searchIn.isEmpty {
            throw ValidationError("--search needs an expression and --search-in, and --search-in needs --search.")
        }
        if substrings, search == nil, searchIndex.isEmpty, dropSearchIndex.isEmpty {
            throw ValidationError("--substrings needs --search, --search-index or --drop-search-index.")
        }
        if indexWhere != nil, index.isEmpty, dropIndex.isEmpty {
            throw ValidationError("--index-where needs --index or --drop-index.")
        }
        if indexes, isQuery {
            throw ValidationError("--indexes prints no items. Give the options of a query without it.")
        }
    }

    /// Whether there are options of a query.
    private var isQuery: Bool {
        condition != nil || search != nil || !sort.isEmpty || !select.isEmpty || !include.isEmpty || limit != nil
            || count || explain
    }

    func run(on console: Console) async throws {
        let console = output.applied(to: console)
        let paths = try Self.paths(select)
        var known: Set<ExactText> = []
        let includedPaths = try Self.paths(include.filter { known.insert(ExactText($0)).inserted })
        let searchPaths = try Self.paths(searchIn)
        let query = ItemQuery(
            filter: try condition.map(Self.filter),
            search: try search.map { try ItemSearch($0, in: searchPaths, by: substrings ? .substrings : .words) },
            sort: try sort.flatMap(IndexPaths.texts).map(Self.sort), limit: limit)
        try await changeIndexes(on: console)
        if !isQuery, !indexes, changesIndexes { return }
        // A signal after the last change ends the command before the query.
        try console.interruption.stopListening()
        if indexes {
            return try await store.read(on: console) {
                try await StoreIndexes(store: $0).print(asJSON: json, on: console)
            }
        }
        if explain {
            return try await store.read(on: console) { store in
                let explanation = try await QueryExplanation(of: query, in: store, isCounting: count)
                try explanation.print(asJSON: json, address: store.address, on: console)
            }
        }
        let leftOut = LeftOutItems()
        try await store.read(on: console) { store in
            if count {
                let number = try await query.count(on: ItemQuery.reader(of: store.engine), leavingOut: leftOut)
                try console.print(count: number, asJSON: json)
            } else {
                let included =
                    includedPaths.isEmpty
                    ? nil : try await IncludedItems(includedPaths, in: store, leavingOut: leftOut)
                var output = QueryOutput(selecting: paths, including: included, asJSON: json, on: console)
                try await query.run(on: ItemQuery.reader(of: store.engine), leavingOut: leftOut) { items in
                    try output.write(items, try await included?.items(namedBy: items) ?? [])
                }
                try output.finish()
            }
        }
        if leftOut.count > 0 { console.complain("note: items that are not JSON were left out: \(leftOut.count)") }
        try leftOut.unreadable.check("could not be examined, so the result may be incomplete")
    }

    private var changesIndexes: Bool {
        ![index, dropIndex, searchIndex, dropSearchIndex].allSatisfy(\.isEmpty)
    }

    private func changeIndexes(on console: Console) async throws {
        if !changesIndexes { return }
        let form: SearchForm = substrings ? .substrings : .words
        let condition = try indexWhere.map(IndexCondition.init)
        let dropped =
            try dropIndex.map { try IndexPaths(parsing: $0, where: condition) }
            + dropSearchIndex.map { try IndexPaths(parsing: $0, searchForm: form) }
        let created =
            try index.map { try IndexPaths(parsing: $0, where: condition) }
            + searchIndex.map { try IndexPaths(parsing: $0, searchForm: form) }
        // A signal ends the command only when it is known which indexes exist.
        console.interruption.listen()
        try await store.useExisting(on: console) { store in
            let indexes = StoreIndexes(store: store)
            for path in created { try path.checkForIndex() }
            if !dropped.isEmpty { try await indexes.remove(dropped, on: console) }
            if !created.isEmpty { try await indexes.create(created, on: console) }
        }
    }

    private static func filter(_ text: String) throws -> JSONFilter {
        do throws(StorageError) {
            return try JSONFilterParser.parse(text)
        } catch {
            throw ToolError(.usage, error.message)
        }
    }

    /// Reads lists of paths.
    private static func paths(_ lists: [String]) throws -> [JSONPath] {
        try lists.flatMap(IndexPaths.texts).map(JSONPath.init(parsing:))
    }

    private static func sort(_ text: String) throws -> ItemQuery.Sort {
        guard let colon = text.lastIndex(of: ":") else {
            return ItemQuery.Sort(path: try JSONPath(parsing: text), isDescending: false)
        }
        let direction = text[text.index(after: colon)...]
        guard direction == "asc" || direction == "desc" else {
            let advice = "Write :asc or :desc; for a name with a colon in it, \(text):asc."
            throw ToolError(.usage, "--sort \(text): \"\(direction)\" is not a direction. \(advice)")
        }
        let path = try JSONPath(parsing: String(text[..<colon]))
        return ItemQuery.Sort(path: path, isDescending: direction == "desc")
    }
}
#endif
