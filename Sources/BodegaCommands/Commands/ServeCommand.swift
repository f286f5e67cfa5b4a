#if CommandLineTool
import ArgumentParser
import Bodega
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
            collection, only that is served. The collection with the tokens is never served.

            The server speaks HTTP without TLS, and listens on this machine only. To let others reach it, put a \
            reverse proxy with TLS before it, or name another --host with --behind-proxy.

            The address is printed when the server listens. The command ends on Ctrl-C or SIGTERM, after the requests \
            under way, with exit status 0.

            The tool must be built with the trait Server.

            EXAMPLES:
              bodega token create tokens.db "Ada's phone" --on notes --where '@.owner == "ada"'
              bodega serve notes.db --tokens tokens.db
              bodega serve notes.db --without-tokens --port 0
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

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be from 0 to 65535.") }
        guard (tokens != nil) != withoutTokens else {
            throw ValidationError("Give either --tokens STORE or --without-tokens.")
        }
        if ["127.0.0.1", "::1", "localhost"].contains(host) { return }
        guard behindProxy, !withoutTokens else {
            throw ValidationError(
                """
                Other machines may reach \(host), and the server has no TLS. Give --tokens, and --behind-proxy if only \
                a proxy with TLS can reach it.
                """)
        }
    }

    func run(on console: Console) async throws {
        #if Server
        let addresses = [try store.checkedAddress()] + (try tokens.map { [try StorageAddress(argument: $0)] } ?? [])
        if addresses.contains(where: { $0.engine == .server }) {
            throw ToolError(.usage, "serve is for files, folders and databases, and not for what another server has.")
        }
        try await store.useExisting(on: console) { store in
            var options = StorageServerOptions()
            (options.host, options.port, options.isBehindProxy) = (host, port, behindProxy)
            var logger = Logger(label: "bodega")
            logger.logLevel = .warning
            let running: @Sendable (Int) async -> Void = { [host] port in
                let name = host.contains(":") ? "[\(host)]" : host
                // Otherwise the reader of the output is gone, which is no reason to end.
                _ = Result { try console.output.write("http://\(name):\(port)\n") }
                console.onReady()
            }
            console.interruption.listen()
            guard let tokens else {
                let server = StorageServer(
                    access: OpenAccess(), collections: store.collections(without: nil), options: options,
                    logger: logger, onRunning: running)
                return try await console.interruption.cancelling { try await server.run() }
            }
            let address = try StorageAddress(argument: tokens)
            try await address.openExisting().use { place in
                let hidden = address.isSameFile(as: store.address) ? address.collection ?? "" : nil
                let server = StorageServer(
                    access: AccessTokens(storage: place.engine), collections: store.collections(without: hidden),
                    options: options, logger: logger, onRunning: running)
                try await console.interruption.cancelling { try await server.run() }
            }
        }
        #else
        throw ToolError.hasNoServer
        #endif
    }
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
    /// The collections to serve.
    ///
    /// - Parameter hidden: The name of a collection that is not, empty for that without a name.
    fileprivate func collections(without hidden: String?) -> StorageCollections {
        if let name = address.collection { return StorageCollections(name == hidden ? [:] : [name: engine]) }
        guard let sqlite, encryption == nil else { return StorageCollections(hidden == "" ? [:] : ["_": engine]) }
        return StorageCollections { name in
            if name == hidden || name == "_" && hidden == "" { return nil }
            if name == "_" { return sqlite }
            // A client must not create a collection by asking for it.
            guard let existing = try await sqlite.collectionNames().first(where: { ExactText($0) == ExactText(name) })
            else { return nil }
            return try sqlite.collection(named: existing)
        }
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
