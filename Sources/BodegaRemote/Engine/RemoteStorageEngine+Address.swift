public import Bodega
public import BodegaHTTP
import Foundation

extension RemoteStorageEngine {
    /// The name under which a server, such as that of the tool `bodega serve`, has the collection without a name.
    public static let unnamedCollection = "_"

    /// Opens the collection of an address, such as `https://data.example.com#notes`.
    ///
    /// - Parameters:
    ///   - address: The address. Without a collection, ``unnamedCollection`` is opened.
    ///   - options: The limits.
    ///   - transport: The client that sends the requests.
    ///   - token: Returns the token of the client; `nil` for none. It is called for each request, concurrently.
    /// - Throws: A `StorageError`: `invalidArgument` if the address is not that of a server, or is one of another
    ///   machine without TLS; the errors of ``init(connecting:collection:options:transport:token:)``.
    public convenience init(
        _ address: StorageAddress, options: RemoteStorageOptions = RemoteStorageOptions(),
        transport: any HTTPStorageTransport = URLSessionTransport.shared,
        token: @escaping @Sendable () async throws -> String? = { nil }
    ) async throws {
        guard let text = address.serverURL, let url = URL(string: text) else {
            throw StorageError(
                .invalidArgument, "\(address) is not the address of a server. Write https://HOST/PATH#COLLECTION.")
        }
        try await self.init(
            connecting: url, collection: address.collection ?? Self.unnamedCollection, options: options,
            transport: transport, token: token)
    }
}
