#if Postgres
import Foundation
import TestSupport

extension FaultyProxy {
    /// Cuts the next connection on which a transaction is committed, after the server has committed it, before the
    /// client receives the result, and after a closure has run.
    func loseNextCommit(_ body: @escaping @Sendable () async throws -> Void) {
        loseAnswer(
            where: { answer in
                // The end of a transaction block or of a single statement, after which the server is idle.
                let isCommit = ["COMMIT\u{0}", "INSERT 0 1\u{0}"].contains { answer.range(of: Data($0.utf8)) != nil }
                return isCommit && answer.range(of: Data([0x5A, 0, 0, 0, 5, 0x49])) != nil
            },
            after: body)
    }
}

extension PostgresServer {
    /// A URL of this server through a proxy.
    nonisolated func url(through proxy: FaultyProxy, _ url: String? = nil) -> String {
        (url ?? self.url()).replacingOccurrences(of: ":\(port)/", with: ":\(proxy.port)/")
    }
}
#endif
