#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A signal for a process that may have ended.
package struct ProcessSignal: Sendable {
    private let number: Int32

    /// A signal of the system.
    package init(_ number: Int32) {
        self.number = number
    }

    /// Stops a process: it keeps what it has, locks and connections included, and does nothing.
    package static let stop = ProcessSignal(SIGSTOP)
    /// Lets a stopped process go on.
    package static let resume = ProcessSignal(SIGCONT)
    /// Ends a process without a warning.
    package static let kill = ProcessSignal(SIGKILL)

    /// Sends the signal.
    ///
    /// - Returns: Whether the process is there.
    @discardableResult
    package func send(to process: Int32) -> Bool {
        systemKill(process, number) == 0
    }
}

private let systemKill = kill
