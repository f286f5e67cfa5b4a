#if Server
import Bodega
import BodegaMessages
import Foundation
import Hummingbird
import RecordCoder

// What has changed since a cursor.
extension StorageRoutes {

    func changes(_ request: ClientRequest, in collection: ClientCollection) async throws -> Response {
        let wanted = try ChangesRequest(await message(request))
        let part = try ChangesPart(collection.engine, wanted, request.mask)
        return try await lines(for: request.client) { spool in
            let answers = try await [part].append(of: collection.engine.database, to: spool) { _ in }
            try spool.appendEnd { object in answers.first?.addEnd(to: &object) }
        }
    }

    /// Answers with the changes of several collections from one moment: those of the first one and a line at their end,
    /// those of the second one, and so on.
    ///
    /// The log of a scope with a filter is not read at a moment, so such a collection is refused.
    func changes(_ request: ClientRequest, of client: StorageClient) async throws -> Response {
        let wanted = try ManyChangesRequest(await message(request)).parts
        try check(wanted.count, limits.batches, "collections")
        var parts: [ChangesPart] = []
        for (name, wanted) in wanted {
            parts.append(try ChangesPart(try await collection(name, of: client).engine, wanted, request.mask))
        }
        let database = parts.first?.engine.database
        guard parts.allSatisfy({ $0.engine.database != nil && $0.engine.database === database }) else {
            throw StorageError(
                .invalidArgument,
                """
                The changes of these collections can't be read from one moment: they are not in one database, or the \
                client may see only the items of a collection that match a filter. Ask for each of them.
                """)
        }
        return try await lines(for: client) { [parts] spool in
            try await parts.append(of: database, to: spool) { answer in
                try spool.append { object in
                    object.add("part", true)
                    answer.addEnd(to: &object)
                }
            }
            try spool.appendEnd()
        }
    }
}

/// A request for changes of a collection.
private struct ChangesPart: Sendable {
    let engine: any StorageBackend
    let log: any StorageLog
    let mask: OriginMask
    /// The maximum number of known origins in a request, each of which costs a hash.
    private static let maximumKnown = 1_000

    /// The origins that the client has stated for its own changes, by those that the log has.
    let own: [StorageOrigin: StorageOrigin]
    /// The request with the origin that the log has.
    let request: ChangesRequest

    init(_ engine: any StorageBackend, _ wanted: ChangesRequest, _ mask: OriginMask) throws {
        guard let log = engine.log else { throw StorageError.noLog }
        guard wanted.known.count <= Self.maximumKnown else {
            throw StorageError(.tooLarge, "A request for changes names at most \(Self.maximumKnown) known origins.")
        }
        var request = wanted
        let own = wanted.known.union([wanted.excluded].compactMap(\.self))
        self.own = Dictionary(own.map { (mask.masked($0), $0) }) { first, _ in first }
        request.excluded = wanted.excluded.map(mask.masked)
        request.known = Set(wanted.known.map(mask.masked))
        (self.engine, self.log, self.mask, self.request) = (engine, log, mask, request)
    }

    /// The request without items.
    var withoutItems: ChangesRequest {
        var request = request
        request.needsItems = false
        return request
    }

    /// The number of items that an answer without them lacks; `nil` if others may follow.
    func missing(in answer: StorageAnswer<StorageDelta?>) -> Int? {
        guard request.needsItems, let delta = answer.value else { return 0 }
        return delta.isComplete ? delta.keysWritten(for: request).count : nil
    }

    /// Appends lines with the changes and items of an answer.
    func append(_ delta: StorageDelta?, to spool: AnswerSpool) throws {
        for change in delta?.changes ?? [] {
            try spool.append { $0.add("change", mask.unmasked(change, own: own)) }
        }
        for item in delta?.items ?? [] { try spool.append { item.add(to: &$0, request.fields) } }
    }

    /// Reads changes and then items, a few at a time, and appends their lines. The reads must answer from one moment.
    ///
    /// - Returns: The answer without the items.
    func readInParts(to spool: AnswerSpool) async throws -> StorageAnswer<StorageDelta?> {
        guard request.needsItems,
            let delta = try await log.fetchAllChanges(since: request.cursor, excluding: request.excluded)
        else {
            let answer = try await log.fetchChanges(withoutItems)
            try append(answer.value, to: spool)
            return answer
        }
        try append(delta, to: spool)
        let keys = delta.keysWritten(for: request)
        let report = try await engine.fetchInParts(
            FetchRequest(keys, request.fields, options: request.options), to: spool)
        return StorageAnswer(delta, report)
    }
}

extension [ChangesPart] {
    /// Appends the lines of the answers, all from one moment.
    ///
    /// Many items are read in parts, so that the server never has all of them in memory.
    ///
    /// - Parameters:
    ///   - database: The database of the collections; `nil` if there is one collection, which has none.
    ///   - end: Is called after the lines of each answer.
    /// - Returns: The answers, which may lack their items.
    @discardableResult
    fileprivate func append(
        of database: (any StorageDatabase)?, to spool: AnswerSpool,
        _ end: @Sendable (StorageAnswer<StorageDelta?>) throws -> Void
    ) async throws -> [StorageAnswer<StorageDelta?>] {
        // In most cases this suffices.
        var answers = try await fetch(of: database, withItems: false)
        let missing = zip(self, answers).map { $0.missing(in: $1) }
        let isLarge = missing.contains(nil) || missing.reduce(0, { $0 + ($1 ?? 0) }) > StorageRoutes.fewItems
        if isLarge, let database {
            let found = Locked<[StorageAnswer<StorageDelta?>]>([])
            try await database.atOneMoment {
                try spool.checkIsEmpty()
                found.withLock { $0 = [] }
                for part in self {
                    let answer = try await part.readInParts(to: spool)
                    try end(answer)
                    found.withLock { $0.append(answer) }
                }
            }
            return found.withLock { $0 }
        }
        if missing.contains(where: { $0 != 0 }) { answers = try await fetch(of: database, withItems: true) }
        for (part, answer) in zip(self, answers) {
            try part.append(answer.value, to: spool)
            try end(answer)
        }
        return answers
    }

    private func fetch(
        of database: (any StorageDatabase)?, withItems: Bool
    ) async throws -> [StorageAnswer<StorageDelta?>] {
        if count > 1, let database {
            return try await database.fetchChanges(map { ($0.engine, withItems ? $0.request : $0.withoutItems) })
        }
        var answers: [StorageAnswer<StorageDelta?>] = []
        for part in self {
            answers.append(try await part.log.fetchChanges(withItems ? part.request : part.withoutItems))
        }
        return answers
    }
}

extension StorageAnswer<StorageDelta?> {
    /// Adds what comes after the changes.
    fileprivate func addEnd(to object: inout JSONObjectWriter) {
        if let value {
            object.add("cursor", value.cursor)
            object.add("complete", value.isComplete)
        } else {
            object.add("gap", true)
        }
        report.add(to: &object)
    }
}
#endif
