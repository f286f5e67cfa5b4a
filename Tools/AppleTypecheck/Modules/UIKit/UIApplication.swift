public import Foundation

@MainActor @preconcurrency
open class UIApplication: UIResponder {
    public enum State: Int, Sendable {
        case active, inactive, background
    }

    @available(iOSApplicationExtension, unavailable)
    @available(tvOSApplicationExtension, unavailable)
    @available(visionOSApplicationExtension, unavailable)
    open class var shared: UIApplication { fatalError() }

    open var applicationState: State { fatalError() }

    open func beginBackgroundTask(
        withName taskName: String?, expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { fatalError() }
    open func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) { fatalError() }

    public nonisolated class var didEnterBackgroundNotification: NSNotification.Name { fatalError() }
    public nonisolated class var willEnterForegroundNotification: NSNotification.Name { fatalError() }
    public nonisolated class var didBecomeActiveNotification: NSNotification.Name { fatalError() }
}

public struct UIBackgroundTaskIdentifier: Hashable, RawRepresentable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { fatalError() }
    public static let invalid = UIBackgroundTaskIdentifier(rawValue: 0)
}
