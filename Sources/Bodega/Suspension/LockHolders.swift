import Dispatch
import Foundation

/// What holds locks of files in this process, or may take some: locked descriptors and open SQLite connections.
///
/// 1. A descriptor or connection is added before it takes a lock, and removed after the lock is released. From the
///    beginning of a suspension on, adding throws ``StorageError/Code/suspended``.
/// 2. A suspension wakes the threads that wait for a lock, so that they throw that error. After a short time in which
///    operations can end by themselves, it interrupts the statements of all connections, again and again because an
///    interrupt between two statements is lost.
/// 3. In the meantime, another thread asks the ``SuspendableFile``s to close, one after the other.
/// 4. When nothing is left, the process holds no lock. The suspension is complete.
/// 5. Asynchronous operations that have failed, or come later, wait in `waiting`, and are repeated after the
///    suspension. Files are opened again by their next use.
///
/// `state` is guarded by its lock, which is never held while a file closes or a caller is resumed. It is held while
/// connections are interrupted, so that none of them is freed then.
package final class LockHolders: Sendable {

    /// Those of the process. POSIX ties some kinds of locks to it.
    package static let shared = LockHolders()

    private struct File {
        weak var file: (any SuspendableFile)?
    }

    private struct State {
        var suspension = SuspensionState()
        /// Whether a suspension was ever requested.
        var isUsed = false
        var descriptors: Set<Int32> = []
        /// The addresses of connections.
        var connections: Set<UInt> = []
        /// The number of connections that are being opened.
        var openings = 0
        var files: [ObjectIdentifier: File] = [:]
        var fileLimit = 16
        /// What the threads that wait for a lock wait for.
        var sleepers: [ObjectIdentifier: ThreadSemaphore] = [:]
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
        var lastWaiting = 0
        /// Callers that wait until the locks are released, or until the request is withdrawn.
        var requests: [ThreadSemaphore] = []

        var isEmpty: Bool { descriptors.isEmpty && connections.isEmpty && openings == 0 }

        func checkRunning() throws {
            if suspension.phase != .running { throw StorageError.suspended }
        }
    }

    private let state = Locked(State())

    /// How long operations have to end by themselves before they are interrupted.
    private static let grace = DispatchTimeInterval.milliseconds(5)
    private static let interval = DispatchTimeInterval.milliseconds(1)

    // MARK: Holders

    /// Whether no lock can be taken.
    package var areSuspended: Bool { state.withLock { $0.suspension.phase != .running } }

    /// Whether the process has ever requested a suspension, so that a wait for a lock must have an end.
    var areInUse: Bool { state.withLock { $0.isUsed } }

    /// Throws ``StorageError/Code/suspended`` if no lock can be taken.
    package func check() throws {
        try state.withLock { try $0.checkRunning() }
    }

    /// Adds a descriptor before it is locked.
    ///
    /// - Parameter isContinuation: Whether an operation that has another lock can only end with this one.
    package func add(_ descriptor: Int32, isContinuation: Bool = false) throws {
        try state.withLock { state in
            if !isContinuation { try state.checkRunning() }
            state.descriptors.insert(descriptor)
        }
    }

    /// Removes a descriptor after it was unlocked. Does nothing if it was not added.
    package func remove(_ descriptor: Int32) {
        state.withLock { _ = $0.descriptors.remove(descriptor) }
    }

    /// Runs a closure that opens connections and adds them.
    func whileOpening<Result>(_ body: () throws -> Result) throws -> Result {
        try state.withLock { state in
            try state.checkRunning()
            state.openings += 1
        }
        defer { state.withLock { $0.openings -= 1 } }
        return try body()
    }

    /// Adds a connection that is being opened.
    func add(connection: UInt) { state.withLock { _ = $0.connections.insert(connection) } }

    /// Removes a connection whose files are closed.
    func remove(connection: UInt) { state.withLock { _ = $0.connections.remove(connection) } }

    /// Adds a file, which is referenced weakly.
    func add(_ file: some SuspendableFile) {
        // Released after the lock.
        let living = state.withLock { state -> [any SuspendableFile] in
            state.files[ObjectIdentifier(file)] = File(file: file)
            if state.files.count <= state.fileLimit { return [] }
            let living = state.files.values.compactMap(\.file)
            state.files = Dictionary(uniqueKeysWithValues: living.map { (ObjectIdentifier($0), File(file: $0)) })
            state.fileLimit = max(16, 2 * living.count)
            return living
        }
        withExtendedLifetime(living) {}
    }

    // MARK: Waiting

    /// Blocks the thread for a time, or until a suspension begins.
    func pause(_ seconds: TimeInterval) {
        let never = ThreadSemaphore(value: 0)
        waking(never) { _ = never.wait(timeout: .now() + seconds) }
    }

    /// Runs a closure that waits for a semaphore, which is signaled when a suspension begins.
    func waking<Result>(_ semaphore: ThreadSemaphore, _ body: () throws -> Result) rethrows -> Result {
        state.withLock { state in
            state.sleepers[ObjectIdentifier(semaphore)] = semaphore
            if state.suspension.phase != .running { semaphore.signal() }
        }
        defer { state.withLock { _ = $0.sleepers.removeValue(forKey: ObjectIdentifier(semaphore)) } }
        return try body()
    }

    /// Runs an operation, and repeats it after each suspension that has ended it.
    ///
    /// - Parameter body: The operation. If it throws ``StorageError/Code/suspended``, it has changed nothing.
    /// - Throws: `CancellationError` if the task is cancelled while it waits for the end of a suspension.
    package func repeating<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> sending Value
    ) async throws -> sending Value {
        // The suspension waits for the end of the moment.
        if StorageMoment.isCurrent { return try await body() }
        while true {
            do {
                return try await body()
            } catch let error as StorageError where error.code == .suspended {
                try await waitUntilResumed()
            }
        }
    }

    /// Waits until locks can be taken.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    package func waitUntilResumed() async throws {
        let number = state.withLock { state in
            state.lastWaiting += 1
            return state.lastWaiting
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let result = state.withLock { state -> Result<Void, any Error>? in
                    if state.suspension.phase == .running { return .success(()) }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiting[number] = continuation
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(throwing: CancellationError())
        }
    }

    // MARK: Suspension

    /// Requests that all locks are released, and waits until they are, or until the request is withdrawn.
    ///
    /// - Parameter endingUses: Whether uses end now; otherwise it waits for their end.
    func suspend(endingUses: Bool) {
        let isReleased = ThreadSemaphore(value: 0)
        state.withLock { state in
            state.suspension.request(endingUses: endingUses)
            state.isUsed = true
            state.requests.append(isReleased)
        }
        settle()
        isReleased.wait()
    }

    /// Withdraws the request.
    func resume() {
        state.withLock { $0.suspension.withdraw() }
        settle()
    }

    /// Begins to use storage in spite of a request.
    func beginUse() -> Int {
        let use = state.withLock { state in
            state.isUsed = true
            return state.suspension.beginUse()
        }
        settle()
        return use
    }

    /// Ends a use, and waits until the locks are released if it was the last one.
    ///
    /// - Parameter requests: Whether to request a suspension.
    func endUse(_ use: Int, requesting requests: Bool) {
        let isReleased = ThreadSemaphore(value: 0)
        let mustWait = state.withLock { state in
            state.suspension.endUse(use)
            if requests { state.suspension.request(endingUses: false) }
            if state.suspension.mustSuspend { state.requests.append(isReleased) }
            return state.suspension.mustSuspend
        }
        settle()
        if mustWait { isReleased.wait() }
    }

    /// Carries out the next steps, unless another thread does.
    private func settle() {
        while true {
            let (step, waiting, requests) = state.withLock { state in
                let step = state.suspension.next()
                let isRunning = state.suspension.phase == .running
                var requests: [ThreadSemaphore] = []
                if state.suspension.phase == .suspended || isRunning && !state.suspension.isRequested {
                    (requests, state.requests) = (state.requests, [])
                }
                if step != .resume { return (step, [CheckedContinuation<Void, any Error>](), requests) }
                defer { state.waiting = [:] }
                return (step, Array(state.waiting.values), requests)
            }
            for request in requests { request.signal() }
            switch step {
            case nil: return
            case .suspend:
                releaseAll()
                // Now: a use may resume the storage before the next step.
                let requests = state.withLock { state in
                    state.suspension.noteReleased()
                    defer { state.requests = [] }
                    return state.requests
                }
                for request in requests { request.signal() }
            case .resume:
                for continuation in waiting { continuation.resume() }
                for file in files { file.resume() }
            }
        }
    }

    private var files: [any SuspendableFile] { state.withLock { $0.files.values.compactMap(\.file) } }

    /// Waits until nothing holds a lock, with the help of another thread: this one interrupts.
    private func releaseAll() {
        for sleeper in state.withLock({ Array($0.sleepers.values) }) { sleeper.signal() }
        let isOver = ThreadSemaphore(value: 0)
        let closer = Thread { [self] in
            closeAll()
            isOver.signal()
        }
        closer.name = "emporium.bodega.suspension"
        closer.qualityOfService = .userInitiated
        closer.start()
        var pause = Self.grace
        while isOver.wait(timeout: .now() + pause) == .timedOut {
            pause = Self.interval
            state.withLock { state in state.connections.forEach(Self.interrupt) }
        }
    }

    /// Closes all files until nothing holds a lock. A file that was being opened, or a descriptor, takes more attempts.
    private func closeAll() {
        let never = ThreadSemaphore(value: 0)
        while true {
            for file in files { file.suspend() }
            if state.withLock({ $0.isEmpty }) { return }
            _ = never.wait(timeout: .now() + Self.interval)
        }
    }
}

/// A file whose connections hold locks while it is open.
protocol SuspendableFile: AnyObject, Sendable {
    /// Closes all connections when the operations in progress have ended or failed. Does nothing if none is open.
    func suspend()

    /// Goes on with what has to be done before the next operation.
    func resume()
}

extension StorageError {
    static let suspended = StorageError(
        .suspended, "The storage of this process is suspended. Nothing was changed. Try again when it is resumed.")
}
