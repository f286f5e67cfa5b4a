public import Foundation

/// An error of a storage engine or of what stands on one.
///
/// Switch over ``code`` to react; show ``description`` to find out what to do.
///
/// ```swift
/// do {
///     try await engine.write(data, key: key)
/// } catch let error as StorageError where error.code == .storageFull {
///     offerToFreeSpace()
/// }
/// ```
public struct StorageError: Error, Sendable {

    /// What kind of failure it was.
    ///
    /// The list can grow; treat an unknown code like ``inputOutput``.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code's stable name.
        public let rawValue: String

        /// Creates a code, for engines that know failures of their own.
        ///
        /// - Parameter rawValue: A stable name in lower camel case.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The code's name.
        public var description: String { rawValue }

        /// The place cannot be opened or created.
        public static let cannotOpen = Code(rawValue: "cannotOpen")
        /// The place was removed or replaced while it was open, so nobody would find what is written there. Nothing was
        /// changed; opening it anew may succeed.
        public static let placeRemoved = Code(rawValue: "placeRemoved")
        /// Somebody else holds the lock for longer than the engine waits. Trying again may succeed.
        public static let locked = Code(rawValue: "locked")
        /// The volume is full, or a quota or file size limit is reached.
        public static let storageFull = Code(rawValue: "storageFull")
        /// The place can be read but not written.
        public static let readOnly = Code(rawValue: "readOnly")
        /// The file system denies access.
        public static let permissionDenied = Code(rawValue: "permissionDenied")
        /// What is stored is damaged, or is not what the engine writes.
        public static let damaged = Code(rawValue: "damaged")
        /// The value or key is larger than the engine can hold.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// Reading or writing failed for another reason; see ``StorageError/cause``.
        public static let inputOutput = Code(rawValue: "inputOutput")
        /// The value could not be encoded.
        public static let encodingFailed = Code(rawValue: "encodingFailed")
        /// The stored bytes could not be decoded as the expected type. They are still stored.
        public static let decodingFailed = Code(rawValue: "decodingFailed")
        /// The server can't be reached, or the connection to it was lost and could not be made again in time. Trying again
        /// later may succeed.
        public static let unreachable = Code(rawValue: "unreachable")
        /// The server, or a connection to it, was not there for the operation within the time that it may take. Whether a
        /// write was applied may not be known; the message says so then.
        public static let timedOut = Code(rawValue: "timedOut")
        /// The argument makes no sense, such as an empty name.
        public static let invalidArgument = Code(rawValue: "invalidArgument")
    }

    /// What kind of failure it was.
    public var code: Code

    /// What happened and what can be done about it.
    public var message: String

    /// The key of the item concerned, if it was one item.
    public var key: CacheKey?

    /// The file or folder concerned, if there is one.
    public var file: URL?

    /// The error underneath, if there is one.
    public var cause: (any Error)?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: What kind of failure it was.
    ///   - message: What happened and what can be done about it.
    ///   - key: The key of the item concerned, if it was one item.
    ///   - file: The file or folder concerned, if there is one.
    ///   - cause: The error underneath, if there is one.
    public init(
        _ code: Code,
        _ message: String,
        key: CacheKey? = nil,
        file: URL? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.key = key
        self.file = file
        self.cause = cause
    }
}

extension StorageError: CustomStringConvertible, LocalizedError {
    /// The code, the message, the key or file and the cause, in one line.
    public var description: String {
        var text = "\(code): \(message)"
        if let key { text += " [key \(key)]" }
        if let file { text += " [\(file.path)]" }
        if let cause { text += " (\(cause))" }
        return text
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
