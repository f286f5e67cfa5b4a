public import Foundation

/// An error of a storage engine or of a layer above it.
///
/// Switch over ``code`` to handle the error. The ``description`` says what to do.
///
/// ```swift
/// do {
///     try await engine.write(data, key: key)
/// } catch let error as StorageError where error.code == .storageFull {
///     offerToFreeSpace()
/// }
/// ```
public struct StorageError: Error, Sendable {

    /// A kind of failure.
    ///
    /// Codes may be added; treat an unknown one like ``inputOutput``.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code's stable name.
        public let rawValue: String

        /// Creates a code, for engines with failures of their own.
        ///
        /// - Parameter rawValue: A stable name in lower camel case.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The code's name.
        public var description: String { rawValue }

        /// The file, folder or database cannot be opened or created.
        public static let cannotOpen = Code(rawValue: "cannotOpen")
        /// The engine was closed. Open another one.
        public static let closed = Code(rawValue: "closed")
        /// The file, folder or collection was removed or replaced while it was open, so a write to it would be lost.
        /// Nothing was changed; reopening it may succeed.
        public static let placeRemoved = Code(rawValue: "placeRemoved")
        /// Another process or thread held the lock for longer than the engine waits. Retrying may succeed.
        public static let locked = Code(rawValue: "locked")
        /// The storage of the process is suspended, so that it holds no lock; see ``StorageSuspension``. Nothing was
        /// changed. Retry after the suspension.
        public static let suspended = Code(rawValue: "suspended")
        /// The volume is full, or a quota or file size limit is reached.
        public static let storageFull = Code(rawValue: "storageFull")
        /// The file, folder or database can be read but not written.
        public static let readOnly = Code(rawValue: "readOnly")
        /// The server does not accept the credentials, which are missing, have expired or were revoked.
        public static let unauthorized = Code(rawValue: "unauthorized")
        /// The file system or the server denies access.
        public static let permissionDenied = Code(rawValue: "permissionDenied")
        /// The stored data is damaged, or in a form that the engine does not write.
        public static let damaged = Code(rawValue: "damaged")
        /// The value or key is larger than the engine can hold.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// Reading or writing failed for another reason; see ``StorageError/cause``.
        public static let inputOutput = Code(rawValue: "inputOutput")
        /// The value could not be encoded.
        public static let encodingFailed = Code(rawValue: "encodingFailed")
        /// The stored bytes could not be decoded as the expected type. They are still stored.
        public static let decodingFailed = Code(rawValue: "decodingFailed")
        /// The stored bytes could not be decrypted: they were changed, or belong to another key or collection.
        public static let decryptionFailed = Code(rawValue: "decryptionFailed")
        /// The keyset lacks the key that the item is encrypted with.
        public static let encryptionKeyMissing = Code(rawValue: "encryptionKeyMissing")
        /// The server can't be reached, or the connection to it was lost and not restored in time. Retry later.
        public static let unreachable = Code(rawValue: "unreachable")
        /// The server, or a connection to it, was not available within the operation's time limit. If it is unknown
        /// whether a write was applied, the message says so.
        public static let timedOut = Code(rawValue: "timedOut")
        /// Other writers have changed an item during each of many attempts to change it. Nothing was written.
        public static let conflict = Code(rawValue: "conflict")
        /// An item can't be removed, because another one names it, see ``StorageReference/Removal/refuse``. Nothing
        /// was changed.
        public static let referenced = Code(rawValue: "referenced")
        /// Another batch with the same identifier was applied, or it was fenced; see ``StorageBatch/identifier`` and
        /// ``StorageDatabase/fence(_:)``, which says which. Nothing was changed.
        public static let identifierUsed = Code(rawValue: "identifierUsed")
        /// An argument is invalid, such as an empty name.
        public static let invalidArgument = Code(rawValue: "invalidArgument")
    }

    /// The kind of failure.
    public var code: Code

    /// What happened and what can be done about it.
    public var message: String

    /// The key of the affected item, if the error is about a single item.
    public var key: CacheKey?

    /// The affected file or folder, if there is one.
    public var file: URL?

    /// The underlying error, if there is one.
    public var cause: (any Error)?

    /// The time that the server asks to wait before the next attempt, if it gives one.
    public var retryAfter: Duration?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: What happened and what can be done about it.
    ///   - key: The key of the affected item, if the error is about a single item.
    ///   - file: The affected file or folder, if there is one.
    ///   - cause: The underlying error, if there is one.
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
