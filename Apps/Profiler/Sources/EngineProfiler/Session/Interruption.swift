import Dispatch
import Foundation

/// Cleans up when the program gets a signal, then ends the program by that signal.
///
/// Code that uses the removed data fails. Such a failure must not end the program in another way; see
/// ``unlessInterrupted(_:)``.
final class Interruption {
    private let numbers: [Int32]
    private let sources: [any DispatchSourceSignal]

    /// A lock that is held from the beginning of the cleanup. It is never released, because the process ends.
    let lock: NSLock

    /// Handles signals until ``cancel()`` is called.
    ///
    /// - Parameters:
    ///   - numbers: The signals.
    ///   - cleanUp: The cleanup.
    ///   - end: Ends the process by a signal that is no longer ignored.
    init(
        by numbers: [Int32] = [SIGINT, SIGTERM, SIGHUP],
        cleanUp: @escaping @Sendable () throws -> Void,
        end: @escaping @Sendable (Int32) -> Void = Interruption.endProcess(by:)
    ) {
        let lock = NSLock()
        self.lock = lock
        self.numbers = numbers
        let watched = DispatchGroup()
        sources = numbers.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                lock.lock()
                do {
                    try cleanUp()
                } catch {
                    FileHandle.standardError.write(Data("Temporary data could not be removed: \(error)\n".utf8))
                }
                signal(number, SIG_DFL)
                end(number)
            }
            watched.enter()
            source.setRegistrationHandler { watched.leave() }
            source.resume()
            return source
        }
        // Until then, signals are ignored.
        watched.wait()
    }

    /// Runs a body unless the program has been interrupted. In that case this method does not return, because the
    /// process is about to end.
    ///
    /// - Parameter body: The body. An interruption waits until it has finished.
    func unlessInterrupted<Result>(_ body: () throws -> Result) rethrows -> Result {
        try lock.withLock(body)
    }

    /// Stops handling signals and restores their default actions.
    func cancel() {
        unlessInterrupted {
            for source in sources { source.cancel() }
            for number in numbers { signal(number, SIG_DFL) }
        }
    }

    /// Ends the process by a signal that is not ignored.
    private static func endProcess(by number: Int32) {
        // The signal is raised in this thread: Dispatch may handle a signal that is sent to the process. Its threads
        // block signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, number)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
    }
}
