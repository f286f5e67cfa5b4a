import Foundation

/// Suspends the storage of the whole process, so that it holds no lock of a file.
///
/// iOS ends an app that holds the lock of a file in a shared container when the system suspends the app, with the
/// exception code `0xdead10cc`. An SQLite connection holds locks as long as it is open. An app calls one method when
/// it starts:
///
/// ```swift
/// StorageSuspension.suspendWhileInBackground()
/// ```
///
/// Where there is no `UIApplication`, as in an extension, call ``suspend()`` when the work is done.
///
/// - The storage of a process is all that this package opens in it: SQLite files, folders, and values and secrets in
///   files. Engines on other machines have no locks.
/// - Operations that take longer than a few milliseconds are interrupted and change nothing. A commit can't be
///   interrupted, so suspending waits until the disk has confirmed it: nothing that was acknowledged is lost.
/// - Asynchronous operations wait during a suspension, also those that were interrupted, and are carried out after it.
///   A task that is cancelled while its operation waits gets a `CancellationError`; the operation has changed nothing.
/// - Operations that block their caller throw ``StorageError/Code/suspended``, so that no thread waits for the
///   resumption that it would have to cause: those of `CodableStoreKit`, initializers that open a file, and values and
///   secrets in files.
/// - Stores, live queries, feeds and other followers go on after the suspension, with all changes that other processes
///   have made in the meantime.
/// - The write-ahead log of an SQLite file stays beside the file, because copying a large one into it takes long. The
///   next use of the file continues with it.
///
/// A suspension is not counted: after any number of calls of ``suspend()``, one of ``resume()`` ends it.
/// ``whileResumed(isolation:_:)`` is, for tasks in the background that overlap.
public enum StorageSuspension {

    /// Whether the storage is suspended, or is about to be.
    public static var isSuspended: Bool { LockHolders.shared.areSuspended }

    /// Suspends the storage, and returns when the process holds no lock. Closures in ``whileResumed(isolation:_:)`` go
    /// on, but their operations wait.
    ///
    /// If the storage is suspended already, this returns immediately; if it is being suspended, with the other call. If
    /// ``resume()`` is called before the locks are released, they are released and the storage is resumed.
    ///
    /// Cancelling the task has no effect.
    public static func suspend() async {
        await onThread { LockHolders.shared.suspend(endingUses: true) }
    }

    /// Suspends the storage, and blocks the caller until the process holds no lock.
    ///
    /// The blocking form of ``suspend()``, for handlers that must not return before, such as that of an expired
    /// background task. It must not be called inside of a closure that an operation of this package runs: it would wait
    /// for that operation.
    public static func suspendBlocking() {
        LockHolders.shared.suspend(endingUses: true)
    }

    /// Ends a suspension. Operations that wait are carried out; files are opened when they are used.
    ///
    /// Returns immediately. Does nothing if the storage is not suspended.
    public static func resume() {
        LockHolders.shared.resume()
    }

    /// Runs a closure for which storage is not suspended, for example in a task that the system runs in the background.
    ///
    /// A suspension is interrupted for the closure and goes on when the last such closure has ended, before this
    /// returns, unless ``resume()`` was called in the meantime. After ``suspendWhileInBackground()``, the storage is
    /// also suspended if the app is in the background then, as after a launch in the background.
    ///
    /// ``suspend()`` suspends the storage in spite of such closures; the app's entry into the background does not.
    ///
    /// - Parameters:
    ///   - isolation: The actor on which the closure runs, the caller's by default.
    ///   - body: The closure.
    /// - Returns: The closure's result.
    /// - Throws: The closure's error.
    public static func whileResumed<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> sending Result
    ) async rethrows -> sending Result {
        let use = LockHolders.shared.beginUse()
        do {
            let result = try await body()
            await end(use)
            return result
        } catch {
            await end(use)
            throw error
        }
    }

    /// Determines whether the app is in the background.
    struct Application {
        var isInBackground: @Sendable () async -> Bool = { false }
    }

    /// That of ``suspendWhileInBackground()``.
    static let application = Locked(Application())

    private static func end(_ use: Int) async {
        let isInBackground = await application.withLock { $0 }.isInBackground()
        await onThread { LockHolders.shared.endUse(use, requesting: isInBackground) }
    }

    /// Blocks a thread of its own, because the pools may be occupied by operations that the suspension ends.
    static func onThread(_ work: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            let thread = Thread {
                work()
                continuation.resume()
            }
            thread.qualityOfService = .userInitiated
            thread.start()
        }
    }
}
