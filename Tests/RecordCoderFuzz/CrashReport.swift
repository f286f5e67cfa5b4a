import Foundation

/// Says at which document the program crashed, if it does.
enum CrashReport {
    /// The number of the document that is tried.
    ///
    /// Unsafe because a signal's handler reads it; there is only one thread, which is interrupted by the signal that it
    /// has caused.
    nonisolated(unsafe) static var document = 0
    nonisolated(unsafe) private static var seed: UInt64 = 0

    /// Watches for the signals of crashes.
    static func install(seed: UInt64) {
        self.seed = seed
        for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE] {
            signal(number) { number in
                // What is written with `print` waits in a buffer that would be lost.
                let message =
                    "CRASH in document \(CrashReport.document): --seed \(CrashReport.seed) --first \(CrashReport.document)\n"
                message.utf8CString.withUnsafeBytes { bytes in
                    // Without the zero at the end. There is nothing to be done if nobody reads it.
                    _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count - 1)
                }
                signal(number, SIG_DFL)
                raise(number)
            }
        }
    }
}
