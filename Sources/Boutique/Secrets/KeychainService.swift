import Bodega

import Foundation

/// The owner of a secret, usually an app; expressible by a string literal.
///
/// ```swift
/// @SecurelyStoredValue<String>(key: "token", service: "com.example.mail") var token
/// ```
public struct KeychainService: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The service's name.
    public let value: String

    /// Creates a service.
    ///
    /// - Parameter value: The service's name.
    public init(_ value: String) {
        self.value = value
    }

    /// Creates a service; the same as ``init(_:)``.
    ///
    /// - Parameter value: The service's name.
    public init(value: String) {
        self.init(value)
    }

    /// Creates a service from a literal.
    ///
    /// - Parameter value: The service's name.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// The service's name.
    public var description: String { value }

    /// The service of this program: its bundle identifier, or its process name if it has no bundle identifier, such as
    /// command-line tools and programs on Linux.
    ///
    /// A renamed program has another default service and finds no secrets; specify a service if the name can change.
    public static let `default` = KeychainService(
        bundleIdentifier: Bundle.main.bundleIdentifier, processName: ProcessInfo.processInfo.processName)

    init(bundleIdentifier: String?, processName: String) {
        self.init(bundleIdentifier.flatMap { $0.isEmpty ? nil : $0 } ?? processName)
    }
}

extension KeychainService {
    /// Compares the names byte by byte.
    public static func == (left: KeychainService, right: KeychainService) -> Bool {
        ExactText(left.value) == ExactText(right.value)
    }

    /// Hashes the bytes of the name.
    public func hash(into hasher: inout Hasher) { ExactText(value).hash(into: &hasher) }
}
