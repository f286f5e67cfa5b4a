#if Server
import Bodega
import BodegaMessages
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import RecordCoder

// Requests and answers of an engine.
extension StorageRoutes {

    func fetch(_ request: ClientRequest, in collection: ClientCollection) async throws -> Response {
        var wanted = try FetchRequest(await message(request))
        try check(wanted.keys.count, limits.keys, "keys")
        wanted.keys = wanted.keys.withoutRepetitions
        return try await lines(for: request.client) { [wanted] spool in
            let report = Locked(StorageReport())
            let engine = collection.engine
            if wanted.keys.count > StorageRoutes.fewItems, engine.groupDatabase != nil {
                try await engine.atOneMoment {
                    try spool.checkIsEmpty()
                    let answer = try await engine.fetchInParts(wanted, to: spool)
                    report.withLock { $0 = answer }
                }
            } else {
                let answer = try await engine.fetch(wanted)
                for item in answer.value { try spool.append { item.add(to: &$0, wanted.fields) } }
                report.withLock { $0 = answer.report }
            }
            try spool.appendEnd { object in report.withLock { $0.add(to: &object) } }
        }
    }

    /// The number of items that are read together although nothing is known about their size.
    static let fewItems = 8

    func scan(_ request: ClientRequest, in collection: ClientCollection) async throws -> Response {
        let wanted = try ScanRequest(await message(request))
        let scans = wanted.scans.count + wanted.counted.count + wanted.within.reduce(0) { $0 + $1.count }
        try check(scans, limits.scans, "scans")
        guard wanted.countLimit >= 0 else {
            throw StorageError(.invalidArgument, "The limit of the count is negative.")
        }
        let limit = try request.request.uri.queryParameters["limit"].map { text in
            guard let limit = Int(text), limit > 0 else {
                throw StorageError(.invalidArgument, "The limit is not a positive number.")
            }
            return limit
        }
        return try await lines(for: request.client) { spool in
            let progress = Locked((hasBegun: false, count: 0))
            let answer = try await collection.engine.scan(wanted) {
                let restarts = progress.withLock { progress in
                    defer { progress = (true, 0) }
                    return progress.hasBegun && progress.count > 0
                }
                if restarts { try spool.append { $0.add("restart", true) } }
                return { number, item in
                    let count = progress.withLock { progress in
                        progress.count += 1
                        return progress.count
                    }
                    if let limit, count > limit { return false }
                    try spool.append { object in
                        if number > 0 { object.add("scan", number) }
                        item.add(to: &object, wanted.fields)
                    }
                    return true
                }
            }
            let isPart = limit.map { limit in progress.withLock { $0.count > limit } } ?? false
            try spool.appendEnd { object in
                answer.value.add(to: &object)
                if isPart { object.add("partial", true) }
                answer.report.add(to: &object)
            }
        }
    }

    func cursor(_ request: ClientRequest, in collection: ClientCollection) async throws -> Response {
        guard let log = collection.engine.log else { throw StorageError.noLog }
        let cursor = try await log.fetchCursor()
        return .json(["cursor": cursor.rawValue] as JSONFields)
    }

    func batch(_ request: ClientRequest, of client: StorageClient) async throws -> Response {
        let body = try await body(of: request)
        let wanted = try BatchRequest(JSONPart(body, isRequest: true))
        try check(wanted.parts.count, limits.batches, "batches")
        // Its only effect is a note, see `Receipts`, which takes space.
        guard !wanted.parts.isEmpty || client.mayWrite else {
            throw StorageError(.permissionDenied, "The right to write items is missing in all collections.")
        }
        let count = wanted.parts.reduce(0) { count, part in
            count + part.batch.operations.count + (part.batch.conditions?.count ?? 0) + part.batch.dates.count
        }
        try check(count, limits.operations, "operations, conditions and dates")
        var batches: [(engine: any StorageBackend, batch: StorageBatch)] = []
        for part in wanted.parts {
            var batch = part.batch
            batch.origin = batch.origin.map(request.mask.masked)
            batches.append((try await collection(part.collection, of: client).engine, batch))
        }
        guard batches.count < 2 || batches.allSatisfy({ $0.engine.groupDatabase != nil }) else {
            throw StorageError(
                .invalidArgument, "The collections can't change together. Send a request for each of them.")
        }
        var claim = try claim(request, body)
        claim?.isFence = batches.isEmpty
        let answers = try await applyOrRefuse(batches, claim)
        return .json(["outcomes": answers.map(BatchAnswer.init)] as JSONFields)
    }

    func indexes(_ request: ClientRequest, in collection: ClientCollection) async throws -> Response {
        .json(["indexes": Array(try await collection.engine.fetchIndexes())] as JSONFields)
    }

    func createIndex(_ request: ClientRequest, in collection: ClientCollection) async throws -> Response {
        try await collection.engine.createIndex(StorageIndex(message(request)))
        return Response(status: .noContent)
    }

    func removeIndex(_ request: ClientRequest, in collection: ClientCollection) async throws -> Response {
        try await collection.engine.removeIndex(StorageIndex(message(request)))
        return Response(status: .noContent)
    }

    func references(_ request: ClientRequest, in collection: ClientCollection) async throws -> Response {
        .json(["references": try await collection.engine.references?.fetchReferences() ?? []] as JSONFields)
    }

    func declareReferences(_ request: ClientRequest, in collection: ClientCollection) async throws -> Response {
        let references: [StorageReference] = try await message(request).list()
        guard let engine = collection.engine.references else {
            throw StorageError(.invalidArgument, "The collection can keep no references.")
        }
        try await engine.declareReferences(references)
        return Response(status: .noContent)
    }

    func check(_ count: Int, _ limit: Int, _ things: String) throws {
        guard count <= limit else {
            throw StorageError(.tooLarge, "The request has more than \(limit) \(things), the limit.")
        }
    }

    /// Answers with lines of JSON, of which the last one says that there are no others, or why there are none.
    ///
    /// - Parameters:
    ///   - client: The client that reads them.
    ///   - body: Appends the lines, and returns the last one.
    func lines(
        for client: StorageClient, _ body: @escaping @Sendable (AnswerSpool) async throws -> Void
    ) async throws -> Response {
        let spool = AnswerSpool(RequestSpace(answerFiles, client), limits, metrics)
        let task = Task { [turns] in
            do {
                try await turns.run(for: client) { try await body(spool) }
                spool.end(.success(()))
            } catch {
                spool.end(.failure(error))
            }
        }
        // While no line is sent, nothing else shows that the client is gone.
        let departure = ServedConnection.departure
        let number = departure?.cancelling(task)
        await withTaskCancellationHandler {
            await spool.wait()
        } onCancel: {
            task.cancel()
        }
        let headers: HTTPFields = [.contentType: "application/x-ndjson", .cacheControl: "no-store"]
        // Mostly all of it: then an error has a status of its own, and a small answer a length.
        if let whole = spool.whole() {
            if let number { departure?.forget(number) }
            return Response(status: .ok, headers: headers, body: .inParts(try whole.get()))
        }
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                defer {
                    spool.abandon()
                    task.cancel()
                    if let number { departure?.forget(number) }
                }
                do {
                    while let part = try await spool.next() { try await writer.write(inParts: part) }
                } catch let error as StorageError {
                    // The status has been sent.
                    var line: [UInt8] = []
                    JSONObjectWriter.appendLine(to: &line) { $0.add("error", error.forClient) }
                    try await writer.write(ByteBuffer(bytes: line))
                }
                try await writer.finish(nil)
            })
    }
}

/// Some members as an object.
private struct JSONFields: JSONObjectMember, ExpressibleByDictionaryLiteral {
    let members: [(String, any JSONMember)]

    init(dictionaryLiteral elements: (String, any JSONMember)...) { members = elements }

    func add(to object: inout JSONObjectWriter) { for (name, value) in members { object.add(name, value) } }
}

extension StorageBackend {
    /// Reads items, a few at a time, and appends their lines. So the server never has all of them in memory. The reads
    /// must answer from one moment.
    func fetchInParts(_ request: FetchRequest, to spool: AnswerSpool) async throws -> StorageReport {
        var report = StorageReport()
        var (remaining, size, part) = (request.keys[...], PartSize(), request)
        while !remaining.isEmpty {
            try Task.checkCancellation()
            part.keys = size.next(of: &remaining)
            let answer = try await fetch(part)
            size.fit(bytes: answer.value.byteCount, count: answer.value.count)
            for item in answer.value { try spool.append { item.add(to: &$0, request.fields) } }
            report.add(answer.report)
        }
        return report
    }
}

extension StorageError {
    static let noLog = StorageError(.permissionDenied, "The changes of this collection can't be followed.")
}
#endif
