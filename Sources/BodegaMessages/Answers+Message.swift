package import Bodega
package import Foundation
package import RecordCoder

extension StorageItem {
    /// Adds the members of an item to a line of an answer.
    package func add(to object: inout JSONObjectWriter, _ fields: StorageFields) {
        key.add(to: &object)
        if position != 0 { object.add("position", position) }
        if let sortKey { object.add("sortKey", sortKey) }
        if !sortKeys.isEmpty { object.add("sortKeys", sortKeys) }
        if let dates {
            object.add("created", dates.createdAt.milliseconds)
            object.add("updated", dates.updatedAt.milliseconds)
        }
        if let expiry { object.add("expires", expiry.milliseconds) }
        if fields.contains(.data) { data.addItem(to: &object) }
    }

    /// Reads a line of an answer, which can be one of very many.
    ///
    /// - Returns: The item and the number of its scan; `nil` if the line has no key.
    package static func read(_ line: Data) throws -> (scan: Int, item: StorageItem)? {
        var (scan, kind) = (0, CacheKey.Kind.hashed)
        var name: String?
        var item = StorageItem(key: CacheKey(""))
        var (created, updated): (Int?, Int?)
        try JSONPart.forEachMember(of: line) { member, value in
            switch member {
            case "scan": scan = try value.int()
            case "key": name = try value.string()
            case "kind": kind = try CacheKey.Kind(value)
            case "position": item.position = try value.int()
            case "sortKey": item.sortKey = try StorageSortKey(value)
            case "sortKeys": item.sortKeys = try value.list()
            case "created": created = try value.int()
            case "updated": updated = try value.int()
            case "expires": item.expiry = Date(milliseconds: try value.int())
            case "value": item.data = value.data
            case "data": item.data = try value.base64()
            default: break
            }
        }
        guard let name else { return nil }
        item.key = CacheKey(identity: name, kind: kind)
        if let created, let updated {
            item.dates = StorageDates(
                createdAt: Date(milliseconds: created), updatedAt: Date(milliseconds: updated))
        }
        return (scan, item)
    }
}

extension StorageError: JSONObjectMember, JSONReadable {
    /// Adds what a client may know: no file of the server, and no cause.
    package func add(to object: inout JSONObjectWriter) {
        object.add("code", code.rawValue)
        object.add("detail", message)
        if let key { object.add("item", key) }
        if let retryAfter { object.add("retryAfter", Int(retryAfter.components.seconds)) }
    }

    package init(_ part: JSONPart) throws {
        let members = try part.members()
        self.init(
            Code(rawValue: try members.required("code").string()), try members.string("detail") ?? "",
            key: try members.value("item"))
        retryAfter = try members.int("retryAfter").map { .seconds($0) }
    }
}

extension StorageReport {
    package func add(to object: inout JSONObjectWriter) {
        if !unreadable.isEmpty { object.add("unreadable", unreadable) }
        if !evicted.isEmpty { object.add("evicted", Array(evicted)) }
        if !sources.isEmpty { object.add("sources", sources.rawValue) }
        if isOtherLog { object.add("otherLog", true) }
    }

    package init(_ members: JSONMembers) throws {
        self.init()
        unreadable = try members.list("unreadable")
        let keys: [CacheKey] = try members.list("evicted")
        evicted = Set(keys)
        sources = Sources(rawValue: try members.int("sources") ?? 0)
        isOtherLog = try members.bool("otherLog")
    }
}

extension ScanOutcome {
    package func add(to object: inout JSONObjectWriter) {
        object.add("count", count)
        if let cursor { object.add("cursor", cursor) }
        if let ranking { object.add("ranking", ranking) }
    }

    package init(_ members: JSONMembers) throws {
        self.init(
            count: try members.int("count") ?? 0, cursor: try members.value("cursor"),
            ranking: try members.value("ranking"))
    }
}

extension StorageChange: JSONObjectMember, JSONReadable {
    package func add(to object: inout JSONObjectWriter) {
        key.add(to: &object)
        if kind == .removed { object.add("removed", true) }
        if let origin { object.add("origin", origin) }
    }

    package init(_ part: JSONPart) throws {
        let members = try part.members()
        self.init(
            key: try CacheKey(members), kind: try members.bool("removed") ? .removed : .written,
            origin: try members.value("origin"))
    }
}

extension StorageCommit: JSONObjectMember, JSONReadable {
    package func add(to object: inout JSONObjectWriter) {
        object.add("before", before)
        object.add("after", after)
    }

    package init(_ part: JSONPart) throws {
        let members = try part.members()
        self.init(
            before: try StorageCursor(members.required("before")), after: try StorageCursor(members.required("after")))
    }
}

/// The outcome of a batch, with the report about it.
package struct BatchAnswer: JSONObjectMember, JSONReadable {
    package var answer: StorageAnswer<BatchOutcome>

    package init(_ answer: StorageAnswer<BatchOutcome>) { self.answer = answer }

    package func add(to object: inout JSONObjectWriter) {
        object.add("applied", answer.value.wasApplied)
        if let commit = answer.value.commit { object.add("commit", commit) }
        if let expiry = answer.value.expiry { object.add("expires", expiry.milliseconds) }
        answer.report.add(to: &object)
    }

    package init(_ part: JSONPart) throws {
        let members = try part.members()
        answer = StorageAnswer(
            BatchOutcome(
                wasApplied: try members.required("applied").bool(), commit: try members.value("commit"),
                expiry: try members.int("expires").map { Date(milliseconds: $0) }),
            try StorageReport(members))
    }
}

/// What a server says about a collection to a client that opens it.
package struct CollectionDescription: JSONObjectMember, JSONReadable {
    package var traits: StorageTraits
    package var hasLog: Bool
    package var hasIndexes: Bool
    package var hasReferences: Bool
    package var hasDatabase: Bool
    /// Whether the server recognizes a batch that it has applied, by its idempotency key.
    package var keepsReceipts: Bool

    package init(_ engine: any StorageBackend, hasDatabase: Bool, keepsReceipts: Bool) {
        traits = engine.traits
        (hasLog, hasIndexes) = (engine.log != nil, engine.indexes != nil)
        hasReferences = engine.references != nil
        (self.hasDatabase, self.keepsReceipts) = (hasDatabase, keepsReceipts)
    }

    private static let names: [(StorageTraits, String)] = [
        (.atomic, "atomic"), (.conditional, "conditional"), (.dated, "dated"), (.stablePositions, "stablePositions"),
        (.evicts, "evicts"), (.expires, "expires"), (.intersects, "intersects"),
    ]

    package func add(to object: inout JSONObjectWriter) {
        object.add("traits", Self.names.filter { traits.contains($0.0) }.map(\.1))
        object.add("log", hasLog)
        object.add("indexes", hasIndexes)
        object.add("references", hasReferences)
        object.add("transactions", hasDatabase)
        object.add("receipts", keepsReceipts)
    }

    package init(_ part: JSONPart) throws {
        let members = try part.members()
        let names: [String] = try members.list("traits")
        traits = Self.names.filter { names.contains($0.1) }.reduce(into: []) { $0.insert($1.0) }
        (hasLog, hasIndexes) = (try members.bool("log"), try members.bool("indexes"))
        (hasReferences, hasDatabase) = (try members.bool("references"), try members.bool("transactions"))
        keepsReceipts = try members.bool("receipts")
    }
}
