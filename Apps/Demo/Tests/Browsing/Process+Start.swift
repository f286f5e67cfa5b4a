package import Foundation

extension Process {
    /// Starts the process. Only one process is started at a time: if Foundation starts two concurrently, one can
    /// inherit the descriptor that signals the end of the other, which then seems to run until both have ended.
    ///
    /// The process has no blocked signals, although the threads of the concurrency runtime block most.
    package func start() throws {
        try Self.starting.withLock {
            var (none, before) = (sigset_t(), sigset_t())
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, &before)
            defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
            try run()
        }
    }

    /// Held while any program is started.
    package static let starting = NSLock()
}
