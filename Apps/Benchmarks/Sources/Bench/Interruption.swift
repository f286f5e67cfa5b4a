import Dispatch
import Foundation

/// Cleans up when the program gets a signal, then ends the program by that signal.
final class Interruption {
    private let sources: [any DispatchSourceSignal]

    /// Handles both signals until ``cancel()`` is called.
    init(cleanUp: @escaping @Sendable () throws -> Void) {
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                do {
                    try cleanUp()
                } catch {
                    FileHandle.standardError.write(Data("Temporary files could not be removed: \(error)\n".utf8))
                }
                signal(number, SIG_DFL)
                // The signal is sent to the process, because this thread of Dispatch blocks it.
                kill(getpid(), number)
            }
            source.resume()
            return source
        }
    }

    /// Stops handling signals.
    func cancel() {
        for source in sources { source.cancel() }
    }
}
