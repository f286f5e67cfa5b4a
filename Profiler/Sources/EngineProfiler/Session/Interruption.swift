import Dispatch
import Foundation

/// Cleans up when the program is interrupted or asked to end, then ends it as the signal would have.
final class Interruption {
    private let sources: [any DispatchSourceSignal]

    /// Watches for the signals until ``cancel()`` is called.
    ///
    /// - Parameter cleanUp: What to do before the end.
    init(cleanUp: @escaping @Sendable () throws -> Void) {
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                do {
                    try cleanUp()
                } catch {
                    FileHandle.standardError.write(Data("Temporary data is left behind: \(error)\n".utf8))
                }
                signal(number, SIG_DFL)
                // To the process, as threads of Dispatch block signals that are sent to them alone.
                kill(getpid(), number)
            }
            source.resume()
            return source
        }
    }

    /// Stops watching.
    func cancel() {
        for source in sources { source.cancel() }
    }
}
