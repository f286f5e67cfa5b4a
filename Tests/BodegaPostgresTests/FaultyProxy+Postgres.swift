#if Postgres
import Foundation
import TestSupport

extension FaultyProxy {
    /// Loses the next connection on which a transaction is committed, after the server has committed and before the client
    /// hears of it, when a closure has run.
    func loseNextCommit(_ body: @escaping @Sendable () async throws -> Void) {
        loseAnswer(
            where: { answer in
                // The end of a transaction, after which the server is idle: of one that was begun, or of a statement.
                let isCommit = ["COMMIT\u{0}", "INSERT 0 1\u{0}"].contains { answer.range(of: Data($0.utf8)) != nil }
                return isCommit && answer.range(of: Data([0x5A, 0, 0, 0, 5, 0x49])) != nil
            },
            after: body)
    }
}

extension PostgresServer {
    /// A URL of this server that leads through a proxy.
    nonisolated func url(through proxy: FaultyProxy, _ url: String? = nil) -> String {
        (url ?? self.url()).replacingOccurrences(of: ":\(port)/", with: ":\(proxy.port)/")
    }
}
#endif
