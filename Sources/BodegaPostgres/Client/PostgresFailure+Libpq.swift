#if Postgres
import CPostgres
import Foundation

extension PostgresFailure {

    /// The failure that a result reports.
    static func refused(_ result: OpaquePointer?) -> PostgresFailure {
        func field(_ code: Character) -> String? {
            code.asciiValue.flatMap { PQresultErrorField(result, Int32($0)) }.map { String(cString: $0) }
        }
        guard let state = field("C") else {
            // libpq made this result itself, because the connection ended.
            return PostgresFailure(.connectionLost, trimmed(PQresultErrorMessage(result)))
        }
        return PostgresFailure(.refused(code: state), field("M") ?? "", constraint: field("n"))
    }

    /// The violation of the protocol by a result that is not the expected one.
    ///
    /// - Parameters:
    ///   - status: The status of the result; `nil` for the null pointer that ends the results of a statement.
    ///   - atEnd: Whether all statements of the batch had been answered, so that its end was expected.
    static func outOfStep(_ status: ExecStatusType? = nil, atEnd: Bool) -> PostgresFailure {
        if status == PGRES_PIPELINE_SYNC { return PostgresFailure(.outOfStep, endedEarly) }
        return PostgresFailure(.outOfStep, atEnd ? surplusResult : wrongKind)
    }

    static let endedEarly = "The server ended a batch before it answered all of its statements."
    static let surplusResult = "The server returned more results than the batch has statements."
    static let wrongKind = "The server returned a result of a kind that the statement cannot have."

    /// The failure of a connection that was in use.
    static func lost(_ connection: OpaquePointer) -> PostgresFailure {
        PostgresFailure(.connectionLost, trimmed(PQerrorMessage(connection)))
    }

    /// The failure to establish a connection. The connection's error verbosity must be `PQERRORS_VERBOSE`.
    ///
    /// libpq offers the SQLSTATE only within the text in this case: `FATAL:  28P01: …`, in the server's language.
    static func notConnected(_ connection: OpaquePointer, hiding secrets: [String]) -> PostgresFailure {
        var secrets = secrets
        if let password = PQpass(connection) { secrets.append(String(cString: password)) }
        var text = trimmed(PQerrorMessage(connection))
        let state = state(in: text)
        if let location = text.range(of: "\nLOCATION:") { text = String(text[..<location.lowerBound]) }
        for secret in secrets where !secret.isEmpty { text = text.replacingOccurrences(of: secret, with: "•••") }
        // A server that rejects all writes is not the primary.
        if text.contains("session is read-only") || text.contains("server is in hot standby mode") {
            return PostgresFailure(.cannotConnect, text)
        }
        return PostgresFailure(state.map { .refused(code: $0) } ?? .cannotConnect, text)
    }

    private static func state(in text: String) -> String? {
        let parts = text.components(separatedBy: ": ").map { $0.trimmingCharacters(in: .whitespaces) }
        return parts.dropFirst().first { part in
            part.utf8.count == 5
                && part.utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) }
                && part.utf8.contains { (48...57).contains($0) }
        }
    }

    private static func trimmed(_ text: UnsafeMutablePointer<CChar>?) -> String {
        // libpq divides some messages into lines that begin with a tabulator.
        text.map { String(cString: $0).replacingOccurrences(of: "\n\t", with: " ") }?
            .trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    }
}
#endif
