public import Bodega
import BodegaHTTP
import BodegaMessages
import RecordCoder

/// The log of a collection on a server.
struct RemoteLog: StorageLog {
    let engine: RemoteStorageEngine
    let events: RemoteEvents

    func fetchCursor() async throws -> StorageCursor {
        let part = try await engine.requests.json(.get, engine.path("cursor"))
        return try engine.requests.read { try StorageCursor(part.members().required("cursor")) }
    }

    func fetchChanges(_ request: ChangesRequest) async throws -> StorageAnswer<StorageDelta?> {
        if let group = request.group { return try await group.join(engine.collectionName, request) }
        var answer = StorageAnswer<StorageDelta?>(nil)
        try await engine.requests.lines(engine.path("changes"), request) {
            var changes = RemoteChanges()
            return { [requests = engine.requests] line in
                try requests.read {
                    if case .sign(let members) = line {
                        answer = try changes.answer(members)
                    } else {
                        try changes.add(line)
                    }
                }
                return true
            }
        }
        return answer
    }

    func changeSignals(excluding origin: StorageOrigin?) -> AsyncStream<Void> { events.signals(excluding: origin) }
}

extension RemoteDatabase {
    /// Returns the changes of several collections from one moment of the server, with one request.
    ///
    /// A collection of which the client may see only the items that match a filter can't be read together with others.
    ///
    /// - Throws: A `StorageError`, with the code `invalidArgument` if the engines are not of this server or have no
    ///   log, if their collections are not in one database there, or if the client's right to one has a filter.
    public func fetchChanges(
        _ requests: [(engine: any StorageBackend, request: ChangesRequest)]
    ) async throws -> [StorageAnswer<StorageDelta?>] {
        let members = try requests.map { engine, request in (log: try engine.log(in: self), request: request) }
        return try await StorageChangesGroup.fetch(members) { [requests = self.requests] parts in
            var answers: [StorageAnswer<StorageDelta?>] = []
            try await requests.lines("changes", ManyChangesRequest(parts)) {
                answers = []
                var changes = RemoteChanges()
                return { line in
                    if case .sign = line { return true }
                    try requests.read {
                        if case .other(let members) = line, members["part"] != nil {
                            answers.append(try changes.answer(members))
                            changes = RemoteChanges()
                        } else {
                            try changes.add(line)
                        }
                    }
                    return true
                }
            }
            guard answers.count == parts.count else {
                throw StorageError(.unreachable, "The server has not answered for each collection.")
            }
            return answers
        }
    }
}

/// The changes of a collection, while their lines arrive.
private struct RemoteChanges {
    private var changes: [StorageChange] = []
    private var items: [StorageItem] = []

    mutating func add(_ line: RemoteLine) throws {
        switch line {
        case .item(let item, _): items.append(item)
        case .other(let members): changes.append(try StorageChange(members.required("change")))
        case .sign: break
        }
    }

    /// The answer whose last line has some members.
    func answer(_ end: JSONMembers) throws -> StorageAnswer<StorageDelta?> {
        let report = try StorageReport(end)
        if try end.bool("gap") { return StorageAnswer(nil, report) }
        return StorageAnswer(
            StorageDelta(
                changes: changes, cursor: try StorageCursor(end.required("cursor")),
                isComplete: try end.bool("complete"), items: items),
            report)
    }
}
