#if Postgres
import Bodega
import CPostgres
import DequeModule

extension ReadLane {

    /// Takes all input. Dispatch reports only once that the peer has closed the connection.
    func receive() {
        while receiveSome() {}
    }

    /// Takes the input that has arrived.
    ///
    /// - Returns: Whether more has arrived in the meantime.
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
        while let slot = sent.first, PQisBusy(connection) == 0 {
            if let result = PQgetResult(connection) {
                take(result, for: slot, &answers)
                if line == nil { return }
            } else {
                if PQstatus(connection) != CONNECTION_OK { return }
                guard endSlot(slot) else { return breakOff(PostgresFailure.outOfStep(atEnd: true), &answers) }
            }
        }
    }

    /// Handles the null pointer that ends the results of a slot.
    ///
    /// A sync slot has one only after the error of a failed commit. The sync itself follows it.
    ///
    /// - Returns: Whether the null pointer conforms to the protocol.
    private func endSlot(_ slot: Slot) -> Bool {
        guard case .sync = slot else {
            sent.removeFirst()
            return true
        }
        defer { endHasFailed = false }
        return endHasFailed
    }

    private func take(_ result: OpaquePointer, for slot: Slot, _ answers: inout [Answer]) {
        switch (PQresultStatus(result), slot) {
        case (PGRES_TUPLES_OK, .read(let read)), (PGRES_COMMAND_OK, .read(let read)):
            answer(read, .success(QueryResult(result)), &answers)
            return
        case (PGRES_PIPELINE_SYNC, .sync):
            sent.removeFirst()
            batches -= 1
            preparationFailure = nil
            endHasFailed = false
        case (PGRES_PIPELINE_ABORTED, .read(let read)):
            if let failure = preparationFailure {
                preparationFailure = nil
                refuse(read, failure, &answers)
            } else if read.continuation != nil {
                // Another read of the batch failed.
                pending.prepend(read)
            }
        case (PGRES_PIPELINE_ABORTED, .preparation(let name)):
            line?.prepared.remove(name)
        case (PGRES_FATAL_ERROR, _):
            fail(.refused(result), slot, &answers)
        case (PGRES_COMMAND_OK, .preparation):
            break
        case (let status, .sync):
            breakOff(PostgresFailure.outOfStep(status, atEnd: true), &answers)
        case (let status, _):
            breakOff(PostgresFailure.outOfStep(status, atEnd: false), &answers)
        }
        PQclear(result)
    }

    private func fail(_ failure: PostgresFailure, _ slot: Slot, _ answers: inout [Answer]) {
        if failure.endsConnection { return breakOff(failure, &answers) }
        switch slot {
        case .preparation(let name):
            line?.prepared.remove(name)
            preparationFailure = failure
        case .read(let read):
            if failure.code == "26000", let name = read.command.statement.name { line?.prepared.remove(name) }
            refuse(read, failure, &answers)
        case .sync:
            // The results of the reads are valid nevertheless.
            endHasFailed = true
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
