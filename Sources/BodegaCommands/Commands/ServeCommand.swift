#if CommandLineTool
import ArgumentParser
import Bodega
import BodegaSync
import Foundation
import Logging

#if Server
import BodegaServer
#endif

/// `bodega serve`.
struct ServeCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve collections over HTTP, until interrupted.",
        discussion: """
            A client needs a token, see bodega help token create, and sees what the token gives it the right to. It \
            is a program with the engine of BodegaRemote, or any other that speaks HTTP.

            A collection is served under its name, and that without a name as "_". If the store's address names a \
            collection, only that is served; with a keyset, one collection is served at most. The collection with the \
            tokens is never served, and neither are those whose names begin with emporium-: in emporium-receipts the \
            server notes which changes it has made, so that a client can send a change again whose answer was lost.

            The server listens on this machine only. To let others reach it, name another --host, with --certificate \
            and --key for TLS, or with --behind-proxy if only a reverse proxy with TLS can reach it. The two files are \
            read once: start the server again after a renewal of the certificate.

            The address is printed when the server listens. The command ends on Ctrl-C or SIGTERM, after the requests \
            under way, with exit status 0.

            The tool must be built with the trait Server.

            EXAMPLES:
              bodega token create tokens.db "Ada's phone" --on notes --where '@.owner == "ada"'
              bodega serve notes.db --tokens tokens.db
              bodega serve notes.db --without-tokens --port 0
              bodega serve notes.db --tokens tokens.db --host :: --port 443 --certificate chain.pem --key key.pem
            """)

    @OptionGroup var store: StoreOptions

    @Option(help: ArgumentHelp("The store with the tokens of clients.", valueName: "store"))
    var tokens: String?

    @Flag(help: "Give all rights to all programs on this machine, without tokens.")
    var withoutTokens = false

    @Option(help: ArgumentHelp("The port to listen on; 0 for a free one.", valueName: "number"))
    var port = 8080

    @Option(help: ArgumentHelp("The address to listen on.", valueName: "host"))
    var host = "127.0.0.1"

    @Flag(help: "Listen on an address that others can reach, because a proxy with TLS is the only one that does.")
    var behindProxy = false

    @Option(
        help: ArgumentHelp(
            "The server's certificate and those of the authorities after it, in the form PEM.", valueName: "file"))
    var certificate: String?

    @Option(help: ArgumentHelp("The private key of the certificate, in the form PEM.", valueName: "file"))
    var key: String?

    @Option(
        help: ArgumentHelp(
            """
            The number of requests per second for each client, which may send 100 in one go after a pause; by default \
            any.
            """, valueName: "number"))
    var rate: Double?

    @Option(
        help: ArgumentHelp(
            "A port of this machine for GET /metrics, in the text format of Prometheus.", valueName: "number"))
    var metricsPort: Int?

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be from 0 to 65535.") }
        guard (1...65_535).contains(metricsPort ?? 1) else {
            throw ValidationError("--metrics-port must be from 1 to 65535.")
        }
        guard (certificate == nil) == (key == nil) else {
            throw ValidationError("--certificate and --key go together.")
        }
        if let rate, !(rate > 0 && rate.isFinite) { throw ValidationError("--rate must be more than 0.") }
        guard (tokens != nil) != withoutTokens else {
            throw ValidationError("Give either --tokens STORE or --without-tokens.")
        }
        if ["127.0.0.1", "::1", "localhost"].contains(host) { return }
        guard behindProxy || certificate != nil, !withoutTokens else {
            throw ValidationError(
                """
                Other machines may reach \(host). Give --tokens, and --certificate with --key, or --behind-proxy if \
                only a proxy with TLS can reach it.
                """)
        }
    }

    func run(on console: Console) async throws {
        #if Server
        let addresses = [try store.checkedAddress()] + (try tokens.map { [try StorageAddress(argument: $0)] } ?? [])
        if addresses.contains(where: { $0.engine == .server }) {
            throw ToolError(.usage, "serve is for files, folders and databases, and not for what another server has.")
        }
        try await store.useToServe(on: console) { store in
            if try await store.outbox()?.fetchCollections().isEmpty == false {
                throw ToolError(
                    .usage,
                    """
                    \(store.address) is synchronized with another database, and a server would not pass on what its \
                    clients write. Serve that database instead.
                    """)
            }
            if let name = store.address.collection, name.hasPrefix(LocalOutbox.reservedPrefix) {
                throw ToolError(.usage, "The collection \"\(name)\" is one of this package's own, and is not served.")
            }
            let options = options
            var logger = Logger(label: "bodega")
            logger.logLevel = .warning
            let running: @Sendable (Int) async -> Void = { [host] port in
                let name = host.contains(":") ? "[\(host)]" : host
                let scheme = options.tls == nil ? "http" : "https"
                let url = "\(scheme)://\(name):\(port)"
                do {
                    try console.output.write(url + "\n")
                } catch {
                    // That is no reason to end, for example if the reader of the output is gone.
                    console.complain("note: The output can't be written. The server is at \(url).")
                }
                console.onReady()
            }
            if store.address.collection == nil {
                for name in try await store.collectionNames() ?? []
                where OpenStore.namesWithoutCollection.contains(name) {
                    console.complain("note: the collection \"\(name)\" is not served, because of its name.")
                }
            }
            if store.address.collection == nil, store.encryption != nil, try await store.collectionNames() != nil {
                console.complain(
                    "note: with a keyset, only the collection without a name is served, as \"_\". Name one with #NAME.")
            }
            console.interruption.listen()
            guard let tokens else {
                let server = StorageServer(
                    access: OpenAccess(), collections: try await store.collections(without: nil), options: options,
                    logger: logger, onRunning: running)
                return try await console.interruption.cancelling { try await server.run() }
            }
            let address = try StorageAddress(argument: tokens)
            try await address.openExisting().use { place in
                let hidden = address.isSameFile(as: store.address) ? address.collection ?? "" : nil
                if let hidden, hidden == store.address.collection {
                    throw ToolError(
                        .usage, "\(store.address) has the tokens, which clients must not read. Serve others.")
                }
                let server = StorageServer(
                    access: AccessTokens(storage: place.engine),
                    collections: try await store.collections(without: hidden),
                    options: options, logger: logger, onRunning: running)
                try await console.interruption.cancelling { try await server.run() }
            }
        }
        #else
        throw ToolError.hasNoServer
        #endif
    }

    #if Server
    private var options: StorageServerOptions {
        var options = StorageServerOptions()
        (options.host, options.port, options.isBehindProxy) = (host, port, behindProxy)
        if let certificate, let key {
            options.tls = StorageServerTLS(
                certificate: URL(fileURLWithPath: certificate), key: URL(fileURLWithPath: key))
        }
        options.limits.requestsPerSecond = rate
        if let metricsPort {
            (options.metrics, options.metricsPort) = (StorageServerMetrics(), metricsPort)
        }
        return options
    }
    #endif
}

extension ToolError {
    static let hasNoServer = ToolError(
        .usage,
        """
        This program was built without a server. Build it with one: swift build --configuration release --traits \
        CommandLineTool,Server --product bodega
        """)
}

#if Server
extension OpenStore {
    /// The collection with the server's receipts.
    private static let receipts = "emporium-receipts"

    /// The collections to serve.
    ///
    /// - Parameter hidden: The name of a collection that is not, empty for that without a name.
    fileprivate func collections(without hidden: String?) async throws -> StorageCollections {
        var collections: StorageCollections
        let hasOthers = try await collectionNames() != nil
        if let name = address.collection {
            collections = StorageCollections(
                name == hidden || name.hasPrefix(LocalOutbox.reservedPrefix) ? [:] : [name: engine])
        } else if hasOthers, encryption == nil {
            collections = StorageCollections { name in
                if name == hidden || name == "_" && hidden == "" { return nil }
                if name == "_" { return engine }
                // A client must not create a collection by asking for it.
                guard let existing = try await collectionNames()?.first(where: { ExactText($0) == ExactText(name) })
                else { return nil }
                return try await unsynchronizedCollection(named: existing)
            }
        } else {
            collections = StorageCollections(hidden == "" ? [:] : ["_": engine])
        }
        if hasOthers, !isReadOnly { collections.receipts = try await baseCollection(named: Self.receipts) }
        collections.checkReadiness = { _ = try await engine.backend.fetch(key: CacheKey(verbatim: "emporium-ready")) }
        return collections
    }
}

extension StorageAddress {
    /// Whether two addresses are in one file or database.
    fileprivate func isSameFile(as other: StorageAddress) -> Bool {
        if let connectionURL { return connectionURL == other.connectionURL }
        return StorageAddress.sqlite(path).isSamePlace(as: .sqlite(other.path))
    }
}
#endif
#endif
