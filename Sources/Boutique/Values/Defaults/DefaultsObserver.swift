import Foundation

#if canImport(ObjectiveC)
/// Hears of changes that other code and other processes make in user defaults, until it is released.
final class DefaultsObserver: NSObject, @unchecked Sendable {
    // @unchecked because nothing changes after the initialiser.
    private let defaults: UserDefaults
    private let key: String
    private let isKeyPath: Bool
    private let onChange: @Sendable () -> Void

    init(_ defaults: UserDefaults, key: String, _ onChange: @escaping @Sendable () -> Void) {
        self.defaults = defaults
        self.key = key
        self.onChange = onChange
        // To key-value observation such a key is a path to something else. Of those it cannot tell, only changes within
        // the process are heard of.
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
/// Elsewhere user defaults don't tell of changes.
final class DefaultsObserver: Sendable {
    init(_ defaults: UserDefaults, key: String, _ onChange: @escaping @Sendable () -> Void) {}
}
#endif
