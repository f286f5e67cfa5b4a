#if CommandLineTool
import ArgumentParser
import Bodega
import Foundation
import RecordCoder

/// `bodega query`.
struct QueryCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Find JSON items by their content.",
        discussion: """
            --where takes a filter expression of RFC 9535 (JSONPath), with @ for the item: comparisons (== != < <= > \
            >=), && || ! and parentheses, existence tests (@.draft), names and indexes (@.authors[0]['last name']), \
            literals, and the functions length(@.a), match(@.a, 'regular expression') and search(@.a, 'regular \
            expression'). Not supported are queries with several results (*, .., slices), $, count and value. As the \
            RFC defines it, values of different types are never equal and have no order. Numbers are compared exactly, \
            with all their digits.

            Regular expressions are those of RFC 9485: . is any character except a line end, ^ and $ are ordinary \
            characters, match is for a whole string and search for a part of it, classes are [a-z] and \\p{Lu}, and \
            there is no \\d, \\w or \\s. An invalid expression is an error, although by RFC 9535 it matches nothing.

            --sort and --select take member names separated by dots, such as owner.name. Items without the value to \
            sort by come last. The direction, asc or desc, follows a colon; it is required after a name that contains \
            a colon. Without --sort, items come in the order in which they were first written, and reading stops at \
            the limit. Items that are not JSON are left out, and their number is reported on standard error. If an item \
            is encrypted and can't be decrypted, it is unknown whether it meets the condition: the others are printed, \
            its key is listed on standard error, and the exit status is 1.

            Each line has the key and the item, or the selected values, separated by tabs; on a terminal it is a \
            table. With --json each line is an object {"key", "kind" if it is not hashed, "json"}, which import reads. \
            With --count only the number of items is printed, with --json as {"count"}.

            EXAMPLES:
              bodega query people.db --where 'match(@.name, "A.*")' --limit 10
              bodega query people.db --where '!@.email || length(@.tags) == 0' --json
              bodega query people.db --sort born:desc --select name --limit 3
              bodega query people.db --where '@.born > 1990' --count
            """
    )

    @OptionGroup var store: StoreOptions
    @OptionGroup var output: OutputOptions

    @Option(
        name: .customLong("where"), help: ArgumentHelp("The condition that items must meet.", valueName: "condition"))
    var condition: String?

    @Option(help: ArgumentHelp("Sort by a value; append :desc for descending order.", valueName: "path"))
    var sort: String?

    @Option(help: ArgumentHelp("Show this value instead of the whole item; can be repeated.", valueName: "path"))
    var select: [String] = []

    @Option(help: ArgumentHelp("The maximum number of items to find.", valueName: "count"))
    var limit: Int?

    @Flag(help: "Print only the number of items.")
    var count = false

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must not be negative.") }
        if count, !select.isEmpty || sort != nil { throw ValidationError("--count excludes --select and --sort.") }
    }

    func run(on console: Console) async throws {
        let console = output.applied(to: console)
        let paths = try select.map(JSONPath.init(parsing:))
        let query = StoreQuery(
            filter: try condition.map(Self.filter),
            sort: try sort.map(Self.sort),
            limit: limit
        )
        let unreadable = UnreadableItems()
        let others = try await store.read(on: console) { store in
            if count { return try await printCount(query, from: store.engine, unreadable, on: console) }
            return json
                ? try await printJSON(query, paths, from: store.engine, unreadable, on: console)
                : try await printTable(query, paths, from: store.engine, unreadable, on: console)
        }
        if others > 0 { console.complain("note: items that are not JSON were left out: \(others)") }
        try unreadable.check("could not be examined, so the result may be incomplete")
    }

    private static func filter(_ text: String) throws -> JSONFilter {
        do throws(StorageError) {
            return try JSONFilterParser.parse(text)
        } catch {
            throw ToolError(.usage, error.message)
        }
    }

    private static func sort(_ text: String) throws -> StoreQuery.Sort {
        guard let colon = text.lastIndex(of: ":") else {
            return StoreQuery.Sort(query: JSONQuery(try JSONPath(parsing: text)), isDescending: false)
        }
        let direction = text[text.index(after: colon)...]
        guard direction == "asc" || direction == "desc" else {
            let advice = "Write :asc or :desc; for a name with a colon in it, \(text):asc."
            throw ToolError(.usage, "--sort \(text): \"\(direction)\" is not a direction. \(advice)")
        }
        let path = try JSONPath(parsing: String(text[..<colon]))
        return StoreQuery.Sort(query: JSONQuery(path), isDescending: direction == "desc")
    }

    private func printCount(
        _ query: StoreQuery, from engine: any StorageEngine, _ unreadable: UnreadableItems, on console: Console
    ) async throws -> Int {
        var count = 0
        let others = try await query.run(on: engine, unreadable: unreadable) { _ in count += 1 }
        if json {
            var object = JSONObjectWriter()
            object.add("count", count)
            try object.line().withUnsafeBytes(console.output.write)
        } else {
            try console.output.write("\(count)\n")
        }
        return others
    }

    private func printTable(
        _ query: StoreQuery,
        _ paths: [JSONPath],
        from engine: any StorageEngine,
        _ unreadable: UnreadableItems,
        on console: Console
    ) async throws -> Int {
        let header = ["key"] + (paths.isEmpty ? ["item"] : paths.map(\.description))
        var table = TextTable(header: header, console: console)
        let others = try await query.run(on: engine, unreadable: unreadable) { match in
            let cells = match.data.withUnsafeBytes { bytes in
                paths.isEmpty
                    ? [Self.text(bytes, 0..<bytes.count)]
                    : Self.values(of: paths, in: bytes).map { $0.map { Self.cell(bytes, $0) } ?? "" }
            }
            try table.add([match.key.rawValue] + cells)
        }
        try table.finish()
        return others
    }

    private func printJSON(
        _ query: StoreQuery,
        _ paths: [JSONPath],
        from engine: any StorageEngine,
        _ unreadable: UnreadableItems,
        on console: Console
    ) async throws -> Int {
        var output = BufferedOutput(console.output)
        let others = try await query.run(on: engine, unreadable: unreadable) { match in
            let data = paths.isEmpty ? Self.compact(match.data) : match.data.withUnsafeBytes { Self.object(paths, $0) }
            try output.write(Envelope.line(key: match.key, data: data))
        }
        try output.flush()
        return others
    }

    /// An object with the selected values.
    private static func object(_ paths: [JSONPath], _ bytes: UnsafeRawBufferPointer) -> Data {
        var object = JSONObjectWriter()
        for (path, range) in zip(paths, values(of: paths, in: bytes)) {
            guard let range else { continue }
            compact(Data(bytes[range])).withUnsafeBytes { object.add(path.description, json: $0) }
        }
        return Data(object.line().dropLast())
    }

    private static func values(of paths: [JSONPath], in bytes: UnsafeRawBufferPointer) -> [Range<Int>?] {
        guard let document = JSONScanner.document(bytes) else { return paths.map { _ in nil } }
        return paths.map { JSONQuery($0).find(in: bytes, document) }
    }

    /// A value as a cell: strings without their quotes, other values as JSON on one line.
    private static func cell(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> String {
        if case .string(let string)? = JSONValue(bytes, range) { return string }
        return text(bytes, range)
    }

    private static func text(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> String {
        String(decoding: compact(Data(bytes[range])), as: UTF8.self)
    }

    /// Trimmed JSON on one line: unchanged if it has no line ends, else without the whitespace between its tokens.
    private static func compact(_ json: Data) -> Data {
        let json = json.withUnsafeBytes { bytes in JSONScanner.document(bytes).map { Data(bytes[$0]) } } ?? json
        guard json.contains(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) else { return json }
        var isInString = false
        var isEscaped = false
        return Data(
            json.filter { byte in
                if isInString {
                    if isEscaped {
                        isEscaped = false
                    } else if byte == UInt8(ascii: "\\") {
                        isEscaped = true
                    } else {
                        isInString = byte != UInt8(ascii: "\"")
                    }
                    return true
                }
                isInString = byte == UInt8(ascii: "\"")
                return ![UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains(byte)
            }
        )
    }
}
#endif
