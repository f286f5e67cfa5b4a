import Foundation

#if canImport(ObjectiveC)
/// Observes a key of user defaults, including changes by other processes, until it is released.
///
/// 1. The initializer registers for key-value observation, or for a notification if the key looks like a key path.
/// 2. The thread that changes the defaults calls `onChange`, also for changes of this package: ``PlatformDefaults``
///    then only schedules a check.
/// 3. `deinit` ends the registration.
///
/// No lock is needed: all properties are constant.
final class DefaultsObserver: NSObject, @unchecked Sendable {
    // @unchecked because all properties are constant.
    private let defaults: UserDefaults
    private let key: String
    private let isKeyPath: Bool
    private let onChange: @Sendable () -> Void

    init(_ defaults: UserDefaults, key: String, _ onChange: @escaping @Sendable () -> Void) {
        self.defaults = defaults
        self.key = key
        self.onChange = onChange
        // Key-value observation treats such a key as a key path. The notification reports changes by this process only.
        isKeyPath = key.contains(".") || key.hasPrefix("@")
        super.init()
        if isKeyPath {
            NotificationCenter.default.addObserver(
                self, selector: #selector(defaultsDidChange), name: UserDefaults.didChangeNotification, object: nil)
        } else {
            defaults.addObserver(self, forKeyPath: key, options: [], context: nil)
        }
    }

    deinit {
        if isKeyPath {
            NotificationCenter.default.removeObserver(self)
        } else {
            defaults.removeObserver(self, forKeyPath: key)
        }
    }

    @objc private func defaultsDidChange() {
        onChange()
    }

    override func observeValue(
        forKeyPath keyPath: String?,
        of object: Any?,
        change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {
        onChange()
    }
}
#else
/// A no-op: these user defaults report no changes.
final class DefaultsObserver: Sendable {
    init(_ defaults: UserDefaults, key: String, _ onChange: @escaping @Sendable () -> Void) {}
}
#endif
