#if SecretService
import CSecretService
import Foundation

/// A connection to a secret service, for one call. Only one thread uses it.
final class SecretServiceConnection {
    private let secrets: OpaquePointer

    /// The path that stands for no object.
    static let noObject = "/"

    /// Connects to a bus, and opens a session of its secret service.
    ///
    /// - Parameters:
    ///   - address: The address of the bus.
    ///   - cancellation: Ends the calls of the connection.
    /// - Throws: A ``SecretServiceFailure``, as all its methods.
    init(_ address: String, _ cancellation: CallCancellation) throws {
        secrets = try checked { emporium_secrets_open(address, cancellation.pointer, &$0) }
    }

    deinit {
        emporium_secrets_close(secrets)
    }

    /// The path of the default collection, ``noObject`` if there is none.
    func defaultCollection() throws -> String {
        try text { emporium_secrets_default_collection(secrets, &$0) }
    }

    /// Whether a collection is locked.
    func isLocked(_ collection: String) throws -> Bool {
        try checked {
            let answer = emporium_secrets_is_locked(secrets, collection, &$0)
            return answer < 0 ? nil : answer != 0
        }
    }

    /// The paths of the items with the attributes of a secret.
    func search(_ collection: String, _ item: SecretItem) throws -> [String] {
        let paths = try item.withAttributes { attributes in
            try checked { emporium_secrets_search(secrets, collection, attributes, &$0) }
        }
        defer { emporium_secrets_free_paths(paths) }
        var (found, next) = ([String](), paths)
        while let path = next.pointee {
            found.append(String(cString: path))
            next += 1
        }
        return found
    }

    /// Reads the secret of an item.
    func read(_ path: String) throws -> Data {
        var count = 0
        let bytes = try checked { emporium_secrets_read(secrets, path, &count, &$0) }
        defer { emporium_secrets_free(bytes) }
        return Data(bytes: bytes, count: count)
    }

    /// Creates an item, or replaces its secret, and returns the path of the prompt that has to be answered first.
    func write(_ collection: String, _ data: Data, to item: SecretItem) throws -> String {
        try item.withAttributes { attributes in
            try data.withUnsafeBytes { bytes in
                try text {
                    emporium_secrets_write(
                        secrets, collection, item.label, attributes, bytes.baseAddress, bytes.count, &$0)
                }
            }
        }
    }

    /// Removes an item, and returns the path of the prompt that has to be answered first.
    func remove(_ path: String) throws -> String {
        try text { emporium_secrets_remove(secrets, path, &$0) }
    }

    /// Dismisses a prompt.
    func dismiss(_ prompt: String) throws {
        try checked { emporium_secrets_dismiss(secrets, prompt, &$0) == 0 ? nil : () }
    }

    private func text(
        _ body: (inout emporium_secrets_failure) -> UnsafeMutablePointer<CChar>?
    ) throws -> String {
        let text = try checked(body)
        defer { emporium_secrets_free(text) }
        return String(cString: text)
    }
}

/// Ends the calls of a connection from another thread.
final class CallCancellation: @unchecked Sendable {
    // @unchecked because GLib's cancellable is thread-safe.
    fileprivate let pointer = emporium_cancellation_create()

    deinit {
        emporium_cancellation_release(pointer)
    }

    func cancel() {
        emporium_cancellation_cancel(pointer)
    }
}

/// Returns the result of a C function, and throws its failure if there is no result.
private func checked<Result>(_ body: (inout emporium_secrets_failure) throws -> Result?) throws -> Result {
    var failure = emporium_secrets_failure()
    if let result = try body(&failure) { return result }
    defer { emporium_secrets_free(failure.text) }
    let text = failure.text.map { String(cString: $0) } ?? ""
    switch emporium_secrets_reason(UInt32(failure.reason)) {
    case emporium_secrets_cancelled: throw SecretServiceFailure.cancelled
    case emporium_secrets_disconnected: throw SecretServiceFailure.disconnected(text)
    case emporium_secrets_refused: throw SecretServiceFailure.refused(text)
    default: throw SecretServiceFailure.garbled
    }
}
#endif
