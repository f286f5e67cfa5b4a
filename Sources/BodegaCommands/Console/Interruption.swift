import Bodega
import Dispatch
import Foundation

/// A request to end a command, by SIGINT (Ctrl-C) or SIGTERM, so that it can finish in an orderly way.
final class Interruption: Sendable {

    private struct State {
        var status: ExitStatus?
        var sources: [any DispatchSourceSignal] = []
        var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
        /// Closures to call on interruption.
        var handlers: [@Sendable () -> Void] = []
        /// The numbers of the waiting callers that ``wake()`` resumes.
        var wakeable: Set<Int> = []
        var isWoken = false
        var lastNumber = 0
    }

    private let state = Locked(State())
    private let hearsSignals: Bool
    /// A separate queue, so that signals are handled even if all other queues are busy.
    private let queue = DispatchQueue(label: "bodega.interruption")
    /// A pipe that becomes readable on interruption, for callers that wait for input.
    private let descriptors: (reading: Int32, writing: Int32)?

    /// Creates an object that has not been interrupted.
    ///
    /// - Parameter hearsSignals: Whether the process's signals interrupt the command.
    init(hearsSignals: Bool = false) {
        self.hearsSignals = hearsSignals
        descriptors = hearsSignals ? systemPipe() : nil
    }

    /// The exit status to end with, `nil` if the command has not been interrupted.
    var status: ExitStatus? { state.withLock { $0.status } }

    /// Begins to handle SIGINT and SIGTERM. A second signal ends the process immediately, as it does by default.
    ///
    /// - Parameter limit: The seconds after a signal within which the command has to end, and the exit status if it
    ///   does not; `nil` if the command limits its own time.
    func listen(limit: (seconds: Double, status: ExitStatus)? = nil) {
        guard hearsSignals, state.withLock(\.sources.isEmpty) else { return }
        for (number, status) in [(SIGINT, ExitStatus.interrupted), (SIGTERM, ExitStatus.terminated)] {
            _ = signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [weak self] in
                guard let self, self.status == nil else {
                    return Self.endProcess(by: number)
                }
                self.interrupt(status)
                guard let limit else { return }
                self.queue.asyncAfter(deadline: .now() + limit.seconds) { _exit(limit.status.rawValue) }
            }
            source.resume()
            state.withLock { $0.sources.append(source) }
        }
    }

    /// Ends the handling of signals, so that the next one ends the process.
    ///
    /// - Throws: A ``ToolError`` with the exit status if the command is interrupted.
    func stopListening() throws {
        let sources = state.withLock { state in
            defer { state.sources = [] }
            return state.sources
        }
        if !sources.isEmpty {
            for number in [SIGINT, SIGTERM] { _ = signal(number, SIG_DFL) }
            for source in sources { source.cancel() }
            // A signal that is being handled counts.
            queue.sync {}
        }
        try check()
    }

    private static func endProcess(by number: Int32) {
        _ = signal(number, SIG_DFL)
        // Only to this thread: Dispatch may take a process signal for an event; its threads block signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, number)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
    }

    /// Interrupts the command, which ends with an exit status.
    func interrupt(_ status: ExitStatus) {
        let (waiting, handlers) = state.withLock { state in
            state.status = state.status ?? status
            defer { (state.waiting, state.handlers) = ([:], []) }
            return (state.waiting.values, state.handlers)
        }
        // No caller reads this byte, so it wakes every caller that waits for input.
        if let descriptors { _ = withUnsafeBytes(of: UInt8(0)) { systemWrite(descriptors.writing, $0) } }
        for continuation in waiting { continuation.resume(returning: false) }
        for handler in handlers { handler() }
    }

    /// Resumes the callers that wait for it, or, if there are none, the next one to wait.
    func wake() {
        let woken = state.withLock { state in
            state.isWoken = state.wakeable.isEmpty
            defer { state.wakeable = [] }
            return state.wakeable.compactMap { state.waiting.removeValue(forKey: $0) }
        }
        for continuation in woken { continuation.resume(returning: true) }
    }

    /// Waits for some time, or until the command is interrupted.
    ///
    /// - Parameter isWakeable: Whether ``wake()`` ends the wait, too.
    /// - Returns: Whether ``wake()`` ended the wait.
    @discardableResult
    func wait(seconds: Double, orWoken isWakeable: Bool = false) async -> Bool {
        await withCheckedContinuation { continuation in
            var isWoken = false
            let number = state.withLock { state -> Int? in
                if state.status != nil { return nil }
                if isWakeable, state.isWoken {
                    state.isWoken = false
                    isWoken = true
                    return nil
                }
                state.lastNumber += 1
                if isWakeable { state.wakeable.insert(state.lastNumber) }
                state.waiting[state.lastNumber] = continuation
                return state.lastNumber
            }
            guard let number else { return continuation.resume(returning: isWoken) }
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [state] in
                let continuation = state.withLock { state in
                    state.wakeable.remove(number)
                    return state.waiting.removeValue(forKey: number)
                }
                continuation?.resume(returning: false)
            }
        }
    }
}

extension Interruption {
    /// - Throws: A ``ToolError`` with the exit status if the command is interrupted.
    func check() throws {
        if let status { throw ToolError(status, "Interrupted.") }
    }

    /// Waits until a descriptor can be read, or until the command is interrupted.
    ///
    /// - Throws: A ``ToolError`` with the exit status if the command is interrupted.
    func waitToRead(_ descriptor: Int32) throws {
        if let descriptors { systemWaitToRead(descriptor, or: descriptors.reading) }
        try check()
    }

    /// Whether a descriptor can be read within some time, and the command is not interrupted until then.
    func canRead(_ descriptor: Int32, seconds: Double) -> Bool {
        let canRead = systemCanRead(descriptor, unless: descriptors?.reading, seconds: seconds)
        return canRead && status == nil
    }

    /// Performs work that may never end, such as a request to a server that does not answer.
    ///
    /// When the command is interrupted, the work is cancelled; if it still does not end, it is abandoned.
    ///
    /// - Parameters:
    ///   - grace: The seconds that cancelled work may take to end.
    ///   - work: The work. Its errors are ignored after an interruption.
    func run(grace: Double, _ work: @escaping @Sendable () async throws -> Void) async throws {
        let outcome: Result<Void, any Error>? = await withCheckedContinuation { continuation in
            let rest = Locked<CheckedContinuation<Result<Void, any Error>?, Never>?>(continuation)
            let finish: @Sendable (Result<Void, any Error>?) -> Void = { outcome in
                let continuation = rest.withLock { rest in
                    defer { rest = nil }
                    return rest
                }
                continuation?.resume(returning: outcome)
            }
            let task = Task {
                do {
                    finish(.success(try await work()))
                } catch {
                    finish(.failure(error))
                }
            }
            onInterruption { [queue] in
                task.cancel()
                queue.asyncAfter(deadline: .now() + grace) { finish(nil) }
            }
        }
        if status == nil { try outcome?.get() }
    }

    /// Performs work that ends when its task is cancelled, and waits for its end in any case, so that its outcome is
    /// known.
    ///
    /// - Throws: A ``ToolError`` with the exit status if the command was interrupted before the work was complete; else
    ///   the error of the work.
    func cancelling<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let task = Task(operation: work)
        onInterruption { task.cancel() }
        do {
            return try await task.value
        } catch is CancellationError {
            try check()
            throw CancellationError()
        }
    }

    /// Calls a closure when the command is interrupted, immediately if it already has been.
    func onInterruption(_ handler: @escaping @Sendable () -> Void) {
        let isInterrupted = state.withLock { state in
            if state.status == nil { state.handlers.append(handler) }
            return state.status != nil
        }
        if isInterrupted { handler() }
    }
}
