#if CommandLineTool
import ArgumentParser
import Bodega

/// The token for the server with a store.
struct TokenOptions: ParsableArguments {
    @Option(
        help: "The file with the token for a server; by default the variable BODEGA_TOKEN.", completion: .file())
    var tokenFile: String?

    /// Reads the token for an address, `nil` if there is none or the store is not on a server.
    func token(for address: StorageAddress, _ environment: [String: String]) throws -> ServerToken? {
        guard address.engine == .server else {
            if tokenFile != nil { throw ToolError(.usage, "--token-file is for servers, and \(address) is on none.") }
            return nil
        }
        return try tokenFile.map(ServerToken.init(file:)) ?? ServerToken(environment)
    }
}

/// The token for the server with one of the two stores of a command.
struct PairTokenOptions<Side: StoreSide>: ParsableArguments {
    @Option(
        name: .customLong("\(Side.name)-token-file"),
        help: "The file with the token for the server with \(Side.store); by default the variable BODEGA_TOKEN.",
        completion: .file())
    var tokenFile: String?

    /// Reads the token for an address, `nil` if there is none or the store is not on a server.
    ///
    /// - Parameter other: The address of the other store. A token of the environment is for one server only.
    func token(
        for address: StorageAddress, beside other: StorageAddress, _ environment: [String: String]
    ) throws -> ServerToken? {
        let option = "--\(Side.name)-token-file"
        guard address.engine == .server else {
            if tokenFile != nil { throw ToolError(.usage, "\(option) is for servers, and \(address) is on none.") }
            return nil
        }
        if let tokenFile { return try ServerToken(file: tokenFile) }
        guard let token = try ServerToken(environment) else { return nil }
        if other.engine == .server, !address.isOnServer(of: other) {
            throw ToolError(
                .usage,
                """
                The variable BODEGA_TOKEN is for one server, and the stores are on two. Unset it, and give the token \
                for \(address) with \(option) FILE.
                """)
        }
        return token
    }
}
#endif
