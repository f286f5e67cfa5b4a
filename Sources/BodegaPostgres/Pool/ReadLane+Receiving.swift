#if Postgres
import Bodega
import CPostgres
import DequeModule

extension ReadLane {

    /// Takes all input. Dispatch reports only once that the peer has closed the connection.
    func receive() {
        while receiveSome() {}
    }

    /// Takes the input that has arrived, and returns whether more has arrived in the meantime.
    private func receiveSome() -> Bool {
        withAnswers { answers in
            guard let connection = line?.session.connection else { return false }
            let isConnected = PQconsumeInput(connection) == 1
            line?.receipts += 1
            // While output is unsent, PQgetResult would block until there is room for it.
            if flush(&answers) { takeResults(connection, &answers) }
            if !isConnected, line != nil { breakOff(PostgresFailure.lost(connection), &answers) }
            sendPending(&answers)
            requestCancellation()
            if isClosed, sent.isEmpty { breakOff(PostgresFailure.closed, &answers) }
            guard let line else { return false }
            return SocketSources.isReady(PQsocket(line.session.connection), toRead: true, toWrite: false)
        }
    }

    private func takeResults(_ connection: OpaquePointer, _ answers: inout [Answer]) {
        while let event = line?.pipeline.next(from: connection) {
            switch event {
            case .result(let read, let result):
                answer(read, .success(result), &answers)
            case .synced:
                batches -= 1
                preparationFailure = nil
            case .violation(let failure):
                breakOff(failure, &answers)
            case .failure(nil, .request(let read)):
                if let failure = preparationFailure {
                    preparationFailure = nil
                    refuse(read, failure, &answers)
                } else if read.continuation != nil {
                    // Another read of the batch failed.
                    pending.prepend(read)
                }
            case .failure(let failure?, _) where failure.endsConnection:
                breakOff(failure, &answers)
            case .failure(let failure?, .preparation):
                preparationFailure = failure
            case .failure(let failure?, .request(let read)):
                if failure.code == "26000", let name = read.command.statement.name { line?.pipeline.forget(name) }
                refuse(read, failure, &answers)
            case .failure:
                // A statement that will not be used, or a commit: the results of the reads are valid nevertheless.
                break
            }
        }
    }

    /// Answers a failed read, or sends it again if other reads caused the failure.
    private func refuse(_ read: Read, _ failure: PostgresFailure, _ answers: inout [Answer]) {
        // A late cancellation request stopped this read instead of another one, or the batch that prepared its
        // statement failed. Without a cancellation request, the server stopped the read at a limit of its own.
        let wasCancelled = failure.code == "57014" && line.map { $0.cancellations > 0 } ?? false
        if wasCancelled { line?.cancellations -= 1 }
        let isCausedByOthers = wasCancelled || failure.code == "26000"
        if isCausedByOthers, read.repeats < Self.maximumRepeats, read.continuation != nil, !read.deadline.hasPassed {
            read.repeats += 1
            pending.prepend(read)
        } else {
            answer(read, .failure(failure), &answers)
        }
    }
}
#endif
