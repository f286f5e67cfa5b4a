#if Postgres
import CPostgres
import Foundation

extension PostgresFailure {

    /// Tells what a statement failed with.
    static func refused(_ result: OpaquePointer?) -> PostgresFailure {
        func field(_ code: Character) -> String? {
            code.asciiValue.flatMap { PQresultErrorField(result, Int32($0)) }.map { String(cString: $0) }
        }
        guard let state = field("C") else {
            // libpq itself made this result, because the connection ended.
            return PostgresFailure(.connectionLost, trimmed(PQresultErrorMessage(result)))
        }
        return PostgresFailure(.refused(code: state), field("M") ?? "", constraint: field("n"))
    }

    /// Tells what happened to a connection that was in use.
    static func lost(_ connection: OpaquePointer) -> PostgresFailure {
        PostgresFailure(.connectionLost, trimmed(PQerrorMessage(connection)))
    }

    /// Tells why a connection could not be made. The connection's errors must be verbose.
    ///
    /// libpq has no field for the state then, only the text, which is `FATAL:  28P01: …` in the server's language.
    static func notConnected(_ connection: OpaquePointer, hiding secrets: [String]) -> PostgresFailure {
        var secrets = secrets
        if let password = PQpass(connection) { secrets.append(String(cString: password)) }
        var text = trimmed(PQerrorMessage(connection))
        let state = state(in: text)
        if let location = text.range(of: "\nLOCATION:") { text = String(text[..<location.lowerBound]) }
        for secret in secrets where !secret.isEmpty { text = text.replacingOccurrences(of: secret, with: "•••") }
        // A server that lets nobody write is no primary, whatever else it is.
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
        text.map { String(cString: $0) }?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    }
}
#endif
