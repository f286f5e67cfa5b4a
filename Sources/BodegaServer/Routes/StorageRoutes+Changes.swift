#if Server
import Bodega
import BodegaMessages
import Foundation
import Hummingbird
import RecordCoder

// What has changed since a cursor.
extension StorageRoutes {

    func changes(_ request: ClientRequest, in collection: ClientCollection) async throws -> Response {
        let wanted = try ChangesRequest(await message(request.request))
        let mask = request.mask
        guard let log = collection.engine.log else { throw StorageError.noLog }
        return try await lines { spool in
            let answer = try await log.fetchChanges(wanted.masked(by: mask))
            try spool.append(answer.value, to: wanted, mask)
            return JSONObjectWriter.ending { answer.addEnd(to: &$0) }
        }
    }

    /// Answers with the changes of several collections from one moment: those of the first one and a line at their end,
    /// those of the second one, and so on.
    ///
    /// The log of a scope with a filter is not read at a moment, so such a collection is refused.
    func changes(_ request: ClientRequest, of client: StorageClient) async throws -> Response {
        let wanted = try ManyChangesRequest(await message(request.request)).parts
        try check(wanted.count, limits.batches, "collections")
        let mask = request.mask
        var parts: [(engine: any StorageBackend, request: ChangesRequest)] = []
        for (name, request) in wanted {
            let engine = try await collection(name, of: client).engine
            if engine.log == nil { throw StorageError.noLog }
            parts.append((engine, request.masked(by: mask)))
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
        return try await lines { [parts] spool in
            let answers = try await database?.fetchChanges(parts) ?? []
            for (answer, part) in zip(answers, wanted) {
                try spool.append(answer.value, to: part.request, mask)
                try spool.append(
                    JSONObjectWriter.object { object in
                        object.add("part", true)
                        answer.addEnd(to: &object)
                    })
            }
            return JSONObjectWriter.ending { _ in }
        }
    }
}

extension ChangesRequest {
    /// The request with the origin that the log has.
    fileprivate func masked(by mask: OriginMask) -> ChangesRequest {
        var stored = self
        stored.excluded = excluded.map(mask.masked)
        return stored
    }
}

extension AnswerSpool {
    /// Appends lines with changes and items.
    ///
    /// - Parameter request: The request of the client, with the origin that it has stated for its own changes.
    fileprivate func append(_ delta: StorageDelta?, to request: ChangesRequest, _ mask: OriginMask) throws {
        for change in delta?.changes ?? [] {
            try append(JSONObjectWriter.object { $0.add("change", mask.unmasked(change, own: request.excluded)) })
        }
        for item in delta?.items ?? [] { try append(item.line(request.fields)) }
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
