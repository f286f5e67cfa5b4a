import Foundation

/// Reports the document at which the program crashes.
enum CrashReport {
    /// The number of the current document.
    ///
    /// Unsafe because a signal handler reads it. There is only one thread, and its own signal interrupts it.
    nonisolated(unsafe) static var document = 0
    nonisolated(unsafe) private static var seed: UInt64 = 0

    /// Installs handlers for the signals of crashes.
    static func install(seed: UInt64) {
        self.seed = seed
        for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE] {
            signal(number) { number in
                // The output of `print` is in a buffer that would be lost.
                let message =
                    """
                    CRASH in document \(CrashReport.document): --seed \(CrashReport.seed) --first \
                    \(CrashReport.document)\n
                    """
                message.utf8CString.withUnsafeBytes { bytes in
                    // Without the terminating zero. A failure of this write can't be handled.
                    _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count - 1)
                }
                signal(number, SIG_DFL)
                raise(number)
            }
        }
    }
}
