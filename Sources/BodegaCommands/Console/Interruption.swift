import Bodega
import Dispatch
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Whether the user wants a command to end, by Ctrl-C or by ending the process kindly, so that it can end in order.
package final class Interruption: Sendable {

    private struct State {
        var status: ExitStatus?
        var sources: [any DispatchSourceSignal] = []
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        /// Those of the waiting that have a reason to go on at once when there is one.
        var wakeable: Set<Int> = []
        var isWoken = false
        var lastNumber = 0
    }

    private let state = Locked(State())
    private let hearsSignals: Bool

    /// Nobody wants anything yet.
    ///
    /// - Parameter hearsSignals: Whether the process is the tool's own, and its signals are meant for the command.
    package init(hearsSignals: Bool = false) {
        self.hearsSignals = hearsSignals
    }

    /// The exit status to end with, `nil` as long as nobody wants that.
    package var status: ExitStatus? { state.withLock { $0.status } }

    /// Listens for SIGINT and SIGTERM from now on. A second signal ends the process at once, as it usually does.
    package func listen() {
        guard hearsSignals else { return }
        for (number, status) in [(SIGINT, ExitStatus.interrupted), (SIGTERM, ExitStatus.terminated)] {
            _ = signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [weak self] in
                guard let self, self.status == nil else {
                    return Self.endProcess(by: number)
                }
                self.interrupt(status)
            }
            source.resume()
            state.withLock { $0.sources.append(source) }
        }
    }

    private static func endProcess(by number: Int32) {
        _ = signal(number, SIG_DFL)
        // To this thread alone: what is sent to the process, Dispatch may take for news. Its threads block signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, number)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
    }

    /// Asks the command to end.
    ///
    /// - Parameter status: The exit status to end with.
    package func interrupt(_ status: ExitStatus) {
        let waiting = state.withLock { state in
            state.status = state.status ?? status
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Lets those go on who wait for it, or who will wait next.
    package func wake() {
        let woken = state.withLock { state in
            state.isWoken = state.wakeable.isEmpty
            defer { state.wakeable = [] }
            return state.wakeable.compactMap { state.waiting.removeValue(forKey: $0) }
        }
        for continuation in woken { continuation.resume() }
    }

    /// Waits for some time, or until the command is to end.
    ///
    /// - Parameters:
    ///   - seconds: How long.
    ///   - isWakeable: Whether it ends with ``wake()``, too.
    package func wait(seconds: Double, orWoken isWakeable: Bool = false) async {
        await withCheckedContinuation { continuation in
            let number = state.withLock { state -> Int? in
                if state.status != nil { return nil }
                if isWakeable, state.isWoken {
                    state.isWoken = false
                    return nil
                }
                state.lastNumber += 1
                if isWakeable { state.wakeable.insert(state.lastNumber) }
                state.waiting[state.lastNumber] = continuation
                return state.lastNumber
            }
            guard let number else { return continuation.resume() }
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [state] in
                let continuation = state.withLock { state in
                    state.wakeable.remove(number)
                    return state.waiting.removeValue(forKey: number)
                }
                continuation?.resume()
            }
        }
    }
}
