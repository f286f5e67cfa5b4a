import Dispatch
import Foundation

/// Cleans up when the program is interrupted or asked to end, then ends it as the signal would have.
///
/// What is cleaned up may be in use, and whoever uses it fails. That is no reason to end in another way: see
/// ``unlessInterrupted(_:)``.
final class Interruption {
    private let numbers: [Int32]
    private let sources: [any DispatchSourceSignal]

    /// Is held from the beginning of cleaning up on. It is not given back: the process ends.
    let lock: NSLock

    /// Watches for signals until ``cancel()`` is called.
    ///
    /// - Parameters:
    ///   - numbers: The signals.
    ///   - cleanUp: What to do before the end.
    ///   - end: Ends the process by a signal that is not ignored any more.
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
                    FileHandle.standardError.write(Data("Temporary data is left behind: \(error)\n".utf8))
                }
                signal(number, SIG_DFL)
                end(number)
            }
            watched.enter()
            source.setRegistrationHandler { watched.leave() }
            source.resume()
            return source
        }
        // Until then signals are ignored.
        watched.wait()
    }

    /// Does something, unless the program is being interrupted: then it doesn't return, as the process is about to end.
    ///
    /// - Parameter body: What to do. An interruption waits until it is done.
    func unlessInterrupted<Result>(_ body: () throws -> Result) rethrows -> Result {
        try lock.withLock(body)
    }

    /// Stops watching, so that the signals do again what they usually do.
    func cancel() {
        unlessInterrupted {
            for source in sources { source.cancel() }
            for number in numbers { signal(number, SIG_DFL) }
        }
    }

    /// Ends the process by a signal that is not ignored.
    private static func endProcess(by number: Int32) {
        // To this thread alone: what is sent to the process, Dispatch may take for news. Its threads block signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, number)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
    }
}
