import Foundation

/// What a secret belongs to, usually an app; a string literal is one.
///
/// ```swift
/// @SecurelyStoredValue<String>(key: "token", service: "com.example.mail") var token
/// ```
public struct KeychainService: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The service's name.
    public let value: String

    /// Names a service.
    ///
    /// - Parameter value: The service's name.
    public init(_ value: String) {
        self.value = value
    }

    /// Names a service; the same as ``init(_:)``.
    ///
    /// - Parameter value: The service's name.
    public init(value: String) {
        self.init(value)
    }

    /// Names a service by a literal.
    ///
    /// - Parameter value: The service's name.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// The service's name.
    public var description: String { value }

    /// The service of this program: the identifier of its bundle, or the name of its process where it has none, as
    /// command-line tools and programs on Linux.
    ///
    /// A program that is renamed has another default service and does not find its secrets; name a service if that can
    /// happen.
    public static let `default` = KeychainService(
        bundleIdentifier: Bundle.main.bundleIdentifier, processName: ProcessInfo.processInfo.processName)

    init(bundleIdentifier: String?, processName: String) {
        self.init(bundleIdentifier.flatMap { $0.isEmpty ? nil : $0 } ?? processName)
    }
}
