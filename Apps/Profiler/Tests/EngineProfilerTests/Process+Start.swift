import Foundation

extension Process {
    /// Starts the process. Only one process is started at a time: if Foundation starts two concurrently, one can
    /// inherit the descriptor that signals the end of the other, which then seems to run until both have ended.
    func start() throws {
        try Self.starting.withLock { try run() }
    }

    private static let starting = NSLock()
}
