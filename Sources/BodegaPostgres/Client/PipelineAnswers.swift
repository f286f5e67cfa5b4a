#if Postgres
import CPostgres

/// What comes back for statements that were sent in one go.
struct PipelineAnswers {

    enum Expectation {
        case preparation(String)
        case rows
        case sync
    }

    private var expected: [Expectation] = []
    private var answered = 0
    private(set) var results: [QueryResult] = []
    /// What the first statement that failed has failed with. Those after it were not run.
    private(set) var failure: PostgresFailure?
    /// Whether the transaction could not be committed, which comes before the sync itself.
    private var endHasFailed = false

    var isComplete: Bool { answered == expected.count }

    mutating func expect(_ expectation: Expectation) {
        expected.append(expectation)
    }

    /// Takes the answers that have arrived. Nothing may be unsent.
    ///
    /// - Parameter prepared: The statements that the server knows, from which those are removed that it didn't accept.
    mutating func take(from connection: OpaquePointer, forgetting prepared: inout Set<String>) {
        while !isComplete, PQisBusy(connection) == 0 {
            guard let result = PQgetResult(connection) else {
                // Each answer but a sync ends with one of these; a connection that has ended gives no other.
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
        if !endHasFailed { giveUp() }
        endHasFailed = false
    }

    /// Expects nothing more, because what comes is not the answer to what was asked.
    private mutating func giveUp() {
        failure = PostgresFailure(.unexpectedAnswer, "The server's answers are not those to what was asked.")
        answered = expected.count
    }

    private mutating func take(_ result: OpaquePointer, _ prepared: inout Set<String>) {
        let status = PQresultStatus(result)
        switch (status, expected[answered]) {
        case (PGRES_PIPELINE_SYNC, .sync):
            answered += 1
            PQclear(result)
        case (PGRES_PIPELINE_SYNC, _):
            giveUp()
            PQclear(result)
        case (PGRES_TUPLES_OK, .rows), (PGRES_COMMAND_OK, .rows):
            results.append(QueryResult(result))
        case (PGRES_COMMAND_OK, _):
            PQclear(result)
        case (_, let expectation):
            switch expectation {
            case .preparation(let name): prepared.remove(name)
            case .rows: break
            case .sync: endHasFailed = true
            }
            if status == PGRES_FATAL_ERROR, failure == nil { failure = .refused(result) }
            PQclear(result)
        }
    }
}

extension Command {
    /// Hands the statement to libpq.
    ///
    /// - Returns: Whether it could.
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
