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

    /// Creates a signal from the system's number.
    package init(_ number: Int32) {
        self.number = number
    }

    /// Stops a process. It keeps its resources, including locks and connections.
    package static let stop = ProcessSignal(SIGSTOP)
    /// Resumes a stopped process.
    package static let resume = ProcessSignal(SIGCONT)
    /// Kills a process.
    package static let kill = ProcessSignal(SIGKILL)

    /// Sends the signal.
    ///
    /// - Returns: Whether the process exists.
    @discardableResult
    package func send(to process: Int32) -> Bool {
        systemKill(process, number) == 0
    }
}

private let systemKill = kill
