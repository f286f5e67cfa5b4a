import Dispatch
import Foundation

/// Cleans up when the program is interrupted or asked to terminate, then ends it as the signal would have.
final class Interruption {
    private let sources: [any DispatchSourceSignal]

    /// Watches for both signals until ``cancel()`` is called.
    init(cleanUp: @escaping @Sendable () throws -> Void) {
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                do {
                    try cleanUp()
                } catch {
                    FileHandle.standardError.write(Data("Temporary files are left behind: \(error)\n".utf8))
                }
                signal(number, SIG_DFL)
                // To the process, because this thread of Dispatch's blocks the signal.
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
