package import Bodega
import Foundation
package import RecordCoder

extension StorageFields {
    private static let names: [(StorageFields, String)] = [
        (.data, "data"), (.dates, "dates"), (.place, "place"), (.expiry, "expiry"),
    ]

    package var names: [String] { Self.names.filter { contains($0.0) }.map(\.1) }

    /// ``data`` if the part is missing.
    package init(_ part: JSONPart?) throws {
        guard let part else {
            self = .data
            return
        }
        self = try part.elements().reduce(into: []) { fields, element in
            let name = try element.string()
            guard let field = Self.names.first(where: { $0.1 == name }) else { throw element.error("a field") }
            fields.insert(field.0)
        }
    }
}

extension ReadOptions {
    package func add(to object: inout JSONObjectWriter) {
        if omitsUnreadable { object.add("omitsUnreadable", true) }
        if needsOriginal { object.add("needsOriginal", true) }
    }

    fileprivate static let names = ["omitsUnreadable", "needsOriginal"]

    package init(_ members: JSONMembers) throws {
        self.init(
            omitsUnreadable: try members.bool("omitsUnreadable"), needsOriginal: try members.bool("needsOriginal"))
    }
}

extension FetchRequest: JSONObjectMember, JSONReadable {
    package func add(to object: inout JSONObjectWriter) {
        object.add("keys", keys)
        object.add("fields", fields.names)
        if let index { object.add("index", index) }
        options.add(to: &object)
    }

    private static let names = ["keys", "fields", "index"] + ReadOptions.names

    package init(_ part: JSONPart) throws {
        let members = try part.members()
        try members.check(names: Self.names)
        self.init(
            try members.required("keys").list(), try StorageFields(members["fields"]),
            index: try members.value("index"), options: try ReadOptions(members))
    }
}

extension StorageScan: JSONObjectMember, JSONReadable {
    package func add(to object: inout JSONObjectWriter) {
        switch self {
        case .all(let position):
            object.add("all", Part { if let position { $0.add("after", position) } })
        case .range(let index, let equal, let lower, let upper, let isDescending, let place):
            object.add(
                "range",
                Part {
                    $0.add("index", index)
                    if !equal.isEmpty { $0.add("equal", equal) }
                    $0.add("from", lower)
                    $0.add("to", upper)
                    if isDescending { $0.add("descending", true) }
                    if let place { $0.add("after", place) }
                })
        case .irregular(let index): object.add("irregular", Part { $0.add("index", index) })
        case .approximate(let index, let equal, let lower, let upper):
            object.add(
                "approximate",
                Part {
                    $0.add("index", index)
                    if !equal.isEmpty { $0.add("equal", equal) }
                    $0.add("from", lower)
                    $0.add("to", upper)
                })
        case .search(let search): object.add("search", search)
        }
    }

    package init(_ part: JSONPart) throws {
        let (name, value) = try part.members().only()
        if name == "search" {
            self = .search(try StorageSearch(value))
            return
        }
        let members = try value.members()
        if name == "all" {
            try members.check(names: ["after"])
            self = .all(after: try members.int("after"))
            return
        }
        let ends = ["index", "equal", "from", "to"]
        switch name {
        case "range": try members.check(names: ends + ["descending", "after"])
        case "approximate": try members.check(names: ends)
        default: try members.check(names: ["index"])
        }
        let index = try StorageIndex(members.required("index"))
        guard index.searchForm == nil else { throw value.error("a scan by an index with an order") }
        let equal: [StorageSortKey] = try members.list("equal")
        guard equal.count < index.members.count else { throw value.error("a scan with fewer equal keys than members") }
        if name == "irregular" {
            self = .irregular(index)
            return
        }
        let lower = try StorageSortKeyBound(members.required("from"))
        let upper = try StorageSortKeyBound(members.required("to"))
        guard upper < .end || lower >= .before(.none) else {
            throw value.error("a range of values, up to {\"before\": null}, or of none, from there to \"end\"")
        }
        switch name {
        case "range":
            self = .range(
                index, equal: equal, from: lower, to: upper, isDescending: try members.bool("descending"),
                after: try members.value("after"))
        case "approximate": self = .approximate(index, equal: equal, from: lower, to: upper)
        default: throw part.error("a scan")
        }
    }
}

/// An object that a closure writes.
private struct Part: JSONObjectMember {
    let body: (inout JSONObjectWriter) -> Void

    init(_ body: @escaping (inout JSONObjectWriter) -> Void) { self.body = body }

    func add(to object: inout JSONObjectWriter) { body(&object) }
}

extension ScanRequest: JSONObjectMember, JSONReadable {
    package func add(to object: inout JSONObjectWriter) {
        object.add("scans", scans)
        if !counted.isEmpty { object.add("counted", counted) }
        if countLimit != .max { object.add("countLimit", countLimit) }
        object.add("fields", fields.names)
        if needsCursor { object.add("cursor", true) }
        if let ranking { object.add("ranking", ranking) }
        if isShort { object.add("short", true) }
        if !within.isEmpty { object.add("within", within) }
        options.add(to: &object)
    }

    private static let names =
        ["scans", "counted", "countLimit", "fields", "cursor", "ranking", "short", "within"] + ReadOptions.names

    package init(_ part: JSONPart) throws {
        let members = try part.members()
        try members.check(names: Self.names)
        self.init(
            try members["scans"]?.list() ?? [.all(after: nil)], counting: try members.list("counted"),
            upTo: try members.int("countLimit") ?? .max, fields: try StorageFields(members["fields"]),
            needsCursor: try members.bool("cursor"), ranking: try members.value("ranking"),
            options: try ReadOptions(members), isShort: try members.bool("short"),
            within: try members["within"]?.elements().map { try $0.list() } ?? [])
    }
}

extension ChangesRequest: JSONObjectMember, JSONReadable {
    package func add(to object: inout JSONObjectWriter) {
        object.add("since", cursor)
        if let excluded { object.add("excluding", excluded) }
        if needsItems { object.add("items", true) }
        if !known.isEmpty { object.add("known", Array(known)) }
        object.add("fields", fields.names)
        options.add(to: &object)
    }

    private static let names = ["since", "excluding", "items", "known", "fields"] + ReadOptions.names

    package init(_ part: JSONPart) throws { try self.init(part.members()) }

    /// - Parameter others: The names of other members that the object has.
    fileprivate init(_ members: JSONMembers, beside others: [String] = []) throws {
        try members.check(names: Self.names + others)
        self.init(
            since: try StorageCursor(members.required("since")), excluding: try members.value("excluding"),
            needsItems: try members.bool("items"), fields: try StorageFields(members["fields"]),
            options: try ReadOptions(members))
        known = Set(try members.list("known"))
    }
}

extension StorageOperation: JSONObjectMember, JSONReadable {
    package func add(to object: inout JSONObjectWriter) {
        switch self {
        case .write(let key, let data):
            key.add(to: &object)
            data.addItem(to: &object)
        case .remove(let key):
            key.add(to: &object)
            object.add("removed", true)
        case .removeAll: object.add("removesAll", true)
        }
    }

    package init(_ part: JSONPart) throws {
        let members = try part.members()
        // One that has members of two forms is not carried out as either of them.
        if let removesAll = members["removesAll"] {
            try members.check(names: ["removesAll"])
            guard try removesAll.bool() else { throw part.error("an operation") }
            self = .removeAll
        } else if let isRemoved = members["removed"] {
            try members.check(names: ["key", "kind", "removed"])
            guard try isRemoved.bool() else { throw part.error("an operation") }
            self = .remove(key: try CacheKey(members))
        } else {
            try members.check(names: ["key", "kind", "value", "data"])
            guard let data = try Data(item: members) else { throw part.error("an operation") }
            self = .write(key: try CacheKey(members), data: data)
        }
    }
}

extension StorageCondition: JSONObjectMember, JSONReadable {
    package func add(to object: inout JSONObjectWriter) {
        key.add(to: &object)
        if let data { data.addItem(to: &object) }
    }

    private static let names = ["key", "kind", "value", "data"]

    package init(_ part: JSONPart) throws {
        let members = try part.members()
        try members.check(names: Self.names)
        self.init(key: try CacheKey(members), data: try Data(item: members))
    }
}

extension StorageBatch: JSONObjectMember, JSONReadable {
    package func add(to object: inout JSONObjectWriter) {
        object.add("operations", operations)
        if let conditions { object.add("conditions", conditions) }
        if let basis { object.add("basis", basis) }
        if !dates.isEmpty {
            // A server recognizes a batch by its bytes, also when another process sends it again.
            object.add("dates", dates.map(DatedKey.init).sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) })
        }
        if let origin { object.add("origin", origin) }
    }

    private static let names = ["operations", "conditions", "basis", "dates", "origin"]

    package init(_ part: JSONPart) throws { try self.init(part.members()) }

    /// - Parameter others: The names of other members that the object has.
    fileprivate init(_ members: JSONMembers, beside others: [String] = []) throws {
        try members.check(names: Self.names + others)
        let dated: [DatedKey] = try members.list("dates")
        self.init(
            try members.required("operations").list(), if: try members["conditions"]?.list(),
            dates: Dictionary(dated.map { ($0.key, $0.dates) }) { $1 }, origin: try members.value("origin"))
        basis = try members.value("basis")
    }
}

/// The dates of an item.
private struct DatedKey: JSONObjectMember, JSONReadable {
    let key: CacheKey
    let dates: StorageDates

    init(_ key: CacheKey, _ dates: StorageDates) { (self.key, self.dates) = (key, dates) }

    private static let names = ["key", "kind", "created", "updated"]

    init(_ part: JSONPart) throws {
        let members = try part.members()
        try members.check(names: Self.names)
        self.init(
            try CacheKey(members),
            StorageDates(
                createdAt: Date(milliseconds: try members.required("created").int()),
                updatedAt: Date(milliseconds: try members.required("updated").int())))
    }

    /// What its place among others follows from.
    var bytes: [UInt8] { Array(key.identity.utf8) + [0] + Array(key.kind.rawValue.utf8) }

    func add(to object: inout JSONObjectWriter) {
        key.add(to: &object)
        object.add("created", dates.createdAt.milliseconds)
        object.add("updated", dates.updatedAt.milliseconds)
    }
}

/// Requests for the changes of several collections from one moment, see ``/Bodega/StorageDatabase/fetchChanges(_:)``.
package struct ManyChangesRequest: JSONObjectMember, JSONReadable {
    package var parts: [(collection: String, request: ChangesRequest)]

    package init(_ parts: [(collection: String, request: ChangesRequest)]) { self.parts = parts }

    package func add(to object: inout JSONObjectWriter) {
        object.add(
            "collections",
            parts.map { part in
                Part {
                    $0.add("collection", part.collection)
                    part.request.add(to: &$0)
                }
            })
    }

    package init(_ part: JSONPart) throws {
        let members = try part.members()
        try members.check(names: ["collections"])
        parts = try members.required("collections").elements().map { element in
            let members = try element.members()
            return (
                try members.required("collection").string(), try ChangesRequest(members, beside: ["collection"])
            )
        }
    }
}

/// Batches of several collections that are applied together, see ``/Bodega/StorageDatabase/apply(_:)``.
package struct BatchRequest: JSONObjectMember, JSONReadable {
    package var parts: [(collection: String, batch: StorageBatch)]

    package init(_ parts: [(collection: String, batch: StorageBatch)]) { self.parts = parts }

    package func add(to object: inout JSONObjectWriter) {
        object.add(
            "batches",
            parts.map { part in
                Part {
                    $0.add("collection", part.collection)
                    part.batch.add(to: &$0)
                }
            })
    }

    package init(_ part: JSONPart) throws {
        let members = try part.members()
        try members.check(names: ["batches"])
        parts = try members.required("batches").elements().map { element in
            let members = try element.members()
            return (try members.required("collection").string(), try StorageBatch(members, beside: ["collection"]))
        }
    }
}
