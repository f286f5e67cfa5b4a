#if canImport(UIKit) && !os(watchOS)

import Foundation
import UIKit

@available(iOSApplicationExtension, unavailable, message: "Call suspend() when the extension's work is done.")
@available(tvOSApplicationExtension, unavailable, message: "Call suspend() when the extension's work is done.")
@available(visionOSApplicationExtension, unavailable, message: "Call suspend() when the extension's work is done.")
extension StorageSuspension {

    @MainActor private static var isFollowing = false

    /// Suspends the storage while the app is in the background. Call it once, when the app starts.
    ///
    /// ```swift
    /// @main
    /// struct NotesApp: App {
    ///     init() {
    ///         StorageSuspension.suspendWhileInBackground()
    ///     }
    /// }
    /// ```
    ///
    /// On platforms without `UIApplication`, such as macOS, Linux and watchOS, this does nothing.
    ///
    /// When the app has entered the background, this asks the system for the time to end what runs, suspends the
    /// storage after the last closure in ``whileResumed(isolation:_:)``, or when that time is over, and resumes it when
    /// the app returns to the foreground. Work in the background belongs into ``whileResumed(isolation:_:)``.
    ///
    /// Further calls have no effect.
    @MainActor public static func suspendWhileInBackground() {
        if isFollowing { return }
        isFollowing = true
        application.withLock { application in
            application.isInBackground = {
                await MainActor.run { UIApplication.shared.applicationState == .background }
            }
        }
        observe(UIApplication.didEnterBackgroundNotification) { suspendAfterUses() }
        observe(UIApplication.willEnterForegroundNotification) { resume() }
        // The system may activate an app that has never been in the background.
        observe(UIApplication.didBecomeActiveNotification) { resume() }
    }

    @MainActor private static func observe(
        _ name: Notification.Name, _ body: @escaping @MainActor @Sendable () -> Void
    ) {
        // Without a queue, the observer runs before the system goes on; the application posts on the main thread.
        _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in
            MainActor.assumeIsolated(body)
        }
    }

    @MainActor private static func suspendAfterUses() {
        let task = BackgroundTask()
        // The system has no time to give.
        if !task.hasBegun { return suspendBlocking() }
        Task {
            await onThread { LockHolders.shared.suspend(endingUses: false) }
            task.end()
        }
    }
}

/// The time that the system gives an app to end its work in the background.
@available(iOSApplicationExtension, unavailable)
@available(tvOSApplicationExtension, unavailable)
@available(visionOSApplicationExtension, unavailable)
@MainActor private final class BackgroundTask {
    private var identifier = UIBackgroundTaskIdentifier.invalid

    init() {
        identifier = UIApplication.shared.beginBackgroundTask(withName: "Suspending storage") { [self] in
            // The system suspends the app as soon as this returns.
            StorageSuspension.suspendBlocking()
            end()
        }
    }

    var hasBegun: Bool { identifier != .invalid }

    func end() {
        if !hasBegun { return }
        UIApplication.shared.endBackgroundTask(identifier)
        identifier = .invalid
    }
}

#else

extension StorageSuspension {
    /// Suspends the storage while the app is in the background, on iOS, tvOS and visionOS. Does nothing on this
    /// platform, so that a program for several platforms calls it unconditionally.
    @MainActor public static func suspendWhileInBackground() {}
}

#endif
