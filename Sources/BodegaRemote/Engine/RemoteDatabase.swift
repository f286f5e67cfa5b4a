public import Bodega
public import BodegaHTTP
import BodegaMessages
public import Foundation
import RecordCoder

/// The collections of a server, such as one of the module `BodegaServer`.
///
/// ```swift
/// let server = try RemoteDatabase(url) { try await session.token() }
/// let notes = try await server.collection(named: "notes")
/// ```
///
/// The engines of one database can change together, see ``/Bodega/StorageDatabase``, if the client may do so.
public final class RemoteDatabase: Sendable {
    let requests: RemoteRequests

    /// Creates a description of a server. No request is sent.
    ///
    /// - Parameters:
    ///   - url: The address of the server, without `/v1`. For other machines than this one it begins with `https`, see
    ///     ``RemoteStorageOptions/allowsPlainHTTP``.
    ///   - options: The limits.
    ///   - transport: The client that sends the requests.
    ///   - token: Returns the token of the client; `nil` for none. It is called for each request, concurrently, and can
    ///     get a new one.
    /// - Throws: A `StorageError` with the code `invalidArgument` if the address is not one of HTTP, contains a
    ///   password, a query or a fragment, or is one of another machine without TLS.
    public init(
        _ url: URL, options: RemoteStorageOptions = RemoteStorageOptions(),
        transport: any HTTPStorageTransport = URLSessionTransport.shared,
        token: @escaping @Sendable () async throws -> String? = { nil }
    ) throws {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            ["http", "https"].contains(parts.scheme?.lowercased()), parts.host?.isEmpty == false,
            parts.password == nil, parts.user == nil, parts.query == nil, parts.fragment == nil
        else {
            throw StorageError(
                .invalidArgument,
                "The address of a server is one of HTTP, without a password, a query and a fragment.")
        }
        if parts.scheme?.lowercased() == "http", !options.allowsPlainHTTP, !Self.isThisMachine(parts.host) {
            throw StorageError(
                .invalidArgument,
                """
                An address of another machine must begin with https://, because others on the network could read the \
                token and the items otherwise. Only 127.0.0.1, [::1] and localhost can be reached with http://.
                """)
        }
        requests = RemoteRequests(url, options, transport, token)
    }

    private static func isThisMachine(_ host: String?) -> Bool {
        ["127.0.0.1", "::1", "[::1]", "localhost"].contains(host?.lowercased())
    }

    /// Opens a collection.
    ///
    /// - Parameter name: The name of the collection.
    /// - Returns: The engine.
    /// - Throws: A `StorageError`: ``/Bodega/StorageError/Code/cannotOpen`` if there is no such collection for the
    ///   client, `unauthorized` if its token is not valid.
    public func collection(named name: String) async throws -> RemoteStorageEngine {
        let part = try await requests.json(.get, RemoteRequests.path(name))
        let description = try requests.read { try CollectionDescription(part) }
        return RemoteStorageEngine(self, name, description)
    }
}

extension RemoteDatabase: StorageDatabase {
    public func apply(_ parts: [StoragePart]) async throws -> [BatchOutcome] {
        try await apply(
            parts.map { part in
                (collection: part.collection.base as? String ?? "", batch: part.batch)
            },
            keepsReceipts: parts.allSatisfy { part in
                (part.engine as? RemoteStorageEngine)?.description.keepsReceipts ?? false
            }
        ).map(\.value)
    }

    /// - Parameter keepsReceipts: Whether the server recognizes the batches if they are sent again.
    func apply(
        _ parts: [(collection: String, batch: StorageBatch)], keepsReceipts: Bool
    ) async throws -> [StorageAnswer<BatchOutcome>] {
        // Also for a batch that has the same effect when it is applied twice: it would undo what others have written in
        // between.
        let effect: RemoteRequests.Effect
        let identifier = parts.first?.batch.identifier
        if keepsReceipts {
            guard parts.allSatisfy({ $0.batch.identifier == identifier }) else {
                throw StorageError(.invalidArgument, "A wrapper has dropped the identifier of one batch of several.")
            }
            effect = .change(idempotencyKey: (identifier ?? UUID()).uuidString)
        } else {
            effect = parts.allSatisfy(\.batch.isIdempotent) ? .idempotentChange : .change(idempotencyKey: nil)
        }
        let part = try await requests.json(.post, "batch", BatchRequest(parts), effect)
        return try requests.read {
            let outcomes: [BatchAnswer] = try part.members().required("outcomes").list()
            guard outcomes.count == parts.count else { throw part.error("an outcome for each batch") }
            // A caller without conditions does not look at the outcome.
            let mayBeRefused =
                identifier != nil || parts.contains { $0.batch.conditions != nil || $0.batch.basis != nil }
            guard mayBeRefused || outcomes.allSatisfy(\.answer.value.wasApplied) else {
                throw StorageError(.conflict, "The server has not applied a batch without conditions. Try again.")
            }
            return outcomes.map(\.answer)
        }
    }

    /// Prevents a batch with an identifier from being applied later, and returns whether it was applied before.
    ///
    /// It sends a request without batches with the same idempotency key. The server notes it as carried out unless it
    /// has a note of another request, and refuses what comes later with the key, also from a proxy that has held it
    /// back.
    ///
    /// The server keeps its notes for an hour, see `StorageServerLimits/receiptSeconds`: call it earlier, and don't
    /// rely on it longer. The notes belong to the client, so the token must be one of the same client as for the batch.
    ///
    /// - Parameter identifier: The identifier of the batch, or the group of batches.
    /// - Returns: `true` if it was applied; `false` if it never will be.
    /// - Throws: A `StorageError`, with the code `invalidArgument` if the server keeps no receipts, or
    ///   `permissionDenied` if the client may write to no collection. The outcome is then still not known.
    public func fence(_ identifier: UUID) async throws -> Bool {
        do {
            let effect = RemoteRequests.Effect.change(idempotencyKey: identifier.uuidString)
            let part = try await requests.json(.post, "batch", BatchRequest([]), effect)
            return try requests.read {
                let outcomes: [BatchAnswer] = try part.members().required("outcomes").list()
                guard outcomes.isEmpty else { throw part.error("no outcome") }
                return false
            }
        } catch let error as StorageError where error.code == .identifierUsed {
            return true
        }
    }
}
