#if Postgres
import CPostgres
import DequeModule

/// The requests on a connection in pipeline mode, whose results it matches with them.
struct Pipeline<Request> {

    /// Something that was sent, and awaits results.
    enum Slot {
        case preparation(String)
        case request(Request)
        case sync
    }

    enum Event {
        case result(Request, QueryResult)
        /// The server has rejected something; without a failure, it has skipped it after one.
        case failure(PostgresFailure?, Slot)
        case synced
        /// A violation of the protocol. There are no more events.
        case violation(PostgresFailure)
    }

    private(set) var slots: Deque<Slot> = []
    /// The names of the statements that are prepared on the server.
    private var prepared: Set<String> = []
    /// Whether the commit at the end of the first batch failed. The server reports that before the sync.
    private var endHasFailed = false

    /// Queues a command in libpq, and prepares its statement if necessary.
    ///
    /// - Returns: Whether libpq accepted it. The request awaits a result in any case.
    mutating func send(_ command: Command, as request: Request, on connection: OpaquePointer) -> Bool {
        let statement = command.statement
        if let name = statement.name, !prepared.contains(name) {
            slots.append(.preparation(name))
            slots.append(.request(request))
            guard PQsendPrepare(connection, name, statement.sql, 0, nil) == 1 else { return false }
            prepared.insert(name)
        } else {
            slots.append(.request(request))
        }
        return command.send(on: connection)
    }

    /// Ends a batch, if libpq accepts that.
    mutating func sync(on connection: OpaquePointer) -> Bool {
        guard PQpipelineSync(connection) == 1 else { return false }
        slots.append(.sync)
        return true
    }

    /// Forgets a prepared statement that the server has lost.
    mutating func forget(_ name: String) { prepared.remove(name) }

    /// Takes the next result that has arrived. All output must have been flushed.
    ///
    /// - Returns: `nil` if none has arrived, also because the connection is lost.
    mutating func next(from connection: OpaquePointer) -> Event? {
        while let slot = slots.first, PQisBusy(connection) == 0 {
            guard let result = PQgetResult(connection) else {
                if PQstatus(connection) != CONNECTION_OK { return nil }
                // A null pointer ends the results of each slot, but of a sync only after the error of a failed commit.
                guard case .sync = slot else {
                    slots.removeFirst()
                    continue
                }
                if !endHasFailed { return .violation(.outOfStep(atEnd: true)) }
                endHasFailed = false
                continue
            }
            if let event = event(result, slot) { return event }
        }
        return nil
    }

    /// Takes a result; `nil` if it means no event.
    private mutating func event(_ result: OpaquePointer, _ slot: Slot) -> Event? {
        let status = PQresultStatus(result)
        if case .request(let request) = slot, status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK {
            return .result(request, QueryResult(result))
        }
        defer { PQclear(result) }
        switch (status, slot) {
        case (PGRES_PIPELINE_SYNC, .sync):
            slots.removeFirst()
            endHasFailed = false
            return .synced
        case (PGRES_COMMAND_OK, .preparation):
            return nil
        case (PGRES_FATAL_ERROR, _), (PGRES_PIPELINE_ABORTED, _):
            if case .preparation(let name) = slot { prepared.remove(name) }
            if case .sync = slot { endHasFailed = true }
            return .failure(status == PGRES_FATAL_ERROR ? .refused(result) : nil, slot)
        case (_, .sync):
            return .violation(.outOfStep(status, atEnd: true))
        default:
            return .violation(.outOfStep(status, atEnd: false))
        }
    }
}

extension Command {
    /// Queues the statement in libpq, if that accepts it.
    func send(on connection: OpaquePointer) -> Bool {
        parameters.withPointers { count, values, lengths, formats in
            if let name = statement.name {
                PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1) == 1
            } else {
                PQsendQueryParams(connection, statement.sql, count, nil, values, lengths, formats, 1) == 1
            }
        }
    }
}
#endif
