#if Postgres
import CPostgres

/// Matches the results of a batch in pipeline mode with the statements that were sent.
struct PipelineAnswers {

    enum Expectation {
        case preparation(String)
        case rows
        case sync
    }

    private var expected: [Expectation] = []
    private var answered = 0
    private(set) var results: [QueryResult] = []
    /// The failure of the first statement that failed. The server skipped the statements after it.
    private(set) var failure: PostgresFailure?
    /// Whether the commit at the end of the batch failed. The server reports that before the sync.
    private var endHasFailed = false

    var isComplete: Bool { answered == expected.count }

    mutating func expect(_ expectation: Expectation) {
        expected.append(expectation)
    }

    /// Takes the results that have arrived. All output must have been flushed.
    ///
    /// - Parameter prepared: The names of the prepared statements; those that the server rejected are removed.
    mutating func take(from connection: OpaquePointer, forgetting prepared: inout Set<String>) {
        while !isComplete, PQisBusy(connection) == 0 {
            guard let result = PQgetResult(connection) else {
                // A null pointer ends each statement's results, but not a sync. A lost connection returns nothing else.
                if PQstatus(connection) != CONNECTION_OK { return }
                end()
                continue
            }
            take(result, &prepared)
        }
    }

    private mutating func end() {
        guard case .sync = expected[answered] else {
            answered += 1
            return
        }
        if !endHasFailed { giveUp(.outOfStep(atEnd: true)) }
        endHasFailed = false
    }

    /// Stops matching after a violation of the protocol.
    private mutating func giveUp(_ violation: PostgresFailure) {
        failure = violation
        answered = expected.count
    }

    private mutating func take(_ result: OpaquePointer, _ prepared: inout Set<String>) {
        let status = PQresultStatus(result)
        switch (status, expected[answered]) {
        case (PGRES_TUPLES_OK, .rows), (PGRES_COMMAND_OK, .rows):
            results.append(QueryResult(result))
            return
        case (PGRES_PIPELINE_SYNC, .sync):
            answered += 1
        case (PGRES_COMMAND_OK, .preparation):
            break
        case (PGRES_FATAL_ERROR, let expectation), (PGRES_PIPELINE_ABORTED, let expectation):
            switch expectation {
            case .preparation(let name): prepared.remove(name)
            case .rows: break
            case .sync: endHasFailed = true
            }
            if status == PGRES_FATAL_ERROR, failure == nil { failure = .refused(result) }
        case (_, .sync):
            giveUp(.outOfStep(status, atEnd: true))
        default:
            giveUp(.outOfStep(status, atEnd: false))
        }
        PQclear(result)
    }
}

extension Command {
    /// Queues the statement in libpq.
    ///
    /// - Returns: Whether libpq accepted it.
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
