#if CommandLineTool
import ArgumentParser
import Bodega
import Foundation
import RecordCoder

#if Server
import BodegaServer
#endif

/// `bodega token`.
struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Create, list, change and revoke the tokens of a server's clients.",
        discussion: """
            A token is random, and is shown once. The store has only a hash of it, what it gives the right to, and \
            when it expires. Use a file of its own, or a collection such as notes.db#tokens.
            """,
        subcommands: [
            CreateTokenCommand.self, ListTokensCommand.self, GrantTokenCommand.self, RevokeTokenCommand.self,
        ]
    )
}

/// What a token gives the right to.
struct GrantOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A collection that the client may use; can be repeated.", valueName: "collection"))
    var on: [String] = []

    @Option(
        help: ArgumentHelp("A filter expression of RFC 9535: the items that exist for the client.", valueName: "filter")
    )
    var `where`: String?

    @Option(
        help: ArgumentHelp(
            "What the client may do: read, write, observe and manage, with commas; by default read,write,observe.",
            valueName: "list"))
    var rights: String?

    /// Whether no option is given.
    var areDefaults: Bool { on.isEmpty && `where` == nil && rights == nil }

    func validate() throws {
        for right in rights?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
            guard ["read", "write", "observe", "manage"].contains(right) else {
                throw ValidationError("--rights has \"\(right)\". There are read, write, observe and manage.")
            }
        }
        if on.contains("") {
            throw ValidationError("--on needs the name of a collection; \"_\" is the one without a name.")
        }
        do {
            _ = try `where`.map { try StorageScope(matching: $0) }
        } catch let error as StorageError {
            throw ValidationError("--where: \(error.message)")
        }
    }

    #if Server
    /// The grants: one for each collection, or one for all.
    var grants: [AccessGrant] {
        let rights = Set((rights ?? "read,write,observe").split(separator: ",").map(String.init))
        let collections = on.isEmpty ? [nil] : on.map(Optional.some)
        return collections.map {
            AccessGrant(collection: $0, matching: `where`, rights: Set(rights.compactMap(AccessGrant.Right.init)))
        }
    }
    #endif
}

/// `bodega token create`.
struct CreateTokenCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a token, and print it.",
        discussion: """
            Without --on, the token is for all collections; without --where, for all items.

            EXAMPLES:
              bodega token create tokens.db "Ada's phone" --on notes --where '@.owner == "ada"' --days 90
              bodega token create tokens.db dashboard --rights read,observe
            """)

    @OptionGroup var store: StoreOptions

    @Argument(help: "A name for lists of tokens.")
    var name: String

    @OptionGroup var grants: GrantOptions

    @Option(help: ArgumentHelp("The number of days after which the token expires.", valueName: "number"))
    var days: Int?

    func validate() throws {
        if let days, !(1...36_500).contains(days) { throw ValidationError("--days must be from 1 to 36500.") }
    }

    func run(on console: Console) async throws {
        #if Server
        if grants.on.isEmpty, store.collection != nil {
            console.complain(
                """
                note: --collection names the collection that has the tokens. This token is for all collections of the \
                server; limit it with --on.
                """)
        }
        let end = days.map { Date().addingTimeInterval(Double($0) * 86_400) }
        try await store.use(on: console, isUnchecked: true) { store in
            let tokens = AccessTokens(storage: store.engine)
            let (token, entry) = try await tokens.create(name: name, grants: grants.grants, expiresAt: end)
            do {
                try console.output.write(token + "\n")
            } catch {
                // A token that was not shown is of no use to its owner.
                try await tokens.revoke(id: entry.id)
                throw error
            }
        }
        #else
        throw ToolError.hasNoServer
        #endif
    }
}

/// `bodega token list`.
struct ListTokensCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the tokens, one JSON object per line.",
        discussion: """
            The "id" of a token is no secret. Tokens that have expired are listed, too.
            """)

    @OptionGroup var store: StoreOptions

    func run(on console: Console) async throws {
        #if Server
        let tokens = try await store.read(on: console) { try await AccessTokens(storage: $0.engine).fetchAll() }
        for token in tokens.objects {
            try console.print([
                "id": token.id, "name": token.name, "created": ItemLine.timestamp(token.createdAt),
                "expires": token.expiresAt.map(ItemLine.timestamp), "grants": token.grants.map(Grant.init),
            ])
        }
        let others = tokens.undecodable.compactMap(\.key)
        if others.isEmpty { return }
        let lines = ToolError.list(others.map { "\($0)" })
        throw ToolError(
            .failure,
            """
            \(Counted.text(others.count, "item is no token", "items are no tokens")). Use a collection of its own for \
            tokens.
            \(lines.joined(separator: "\n"))
            """)
        #else
        throw ToolError.hasNoServer
        #endif
    }
}

#if Server
/// A grant as it is listed.
private struct Grant: JSONObjectMember {
    let grant: AccessGrant

    func add(to object: inout JSONObjectWriter) {
        if let collection = grant.collection { object.add("collection", collection) }
        if let filter = grant.filter { object.add("where", filter) }
        object.add("rights", AccessGrant.Right.allCases.filter(grant.rights.contains).map(\.rawValue))
    }
}
#endif

/// `bodega token grant`.
struct GrantTokenCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant",
        abstract: "Replace what a token gives the right to.",
        discussion: """
            All old grants of the token end; the client keeps its token. At least one of --on, --where and --rights is \
            needed. Without --on, the token is for all collections; without --where, for all items. A server obeys \
            within half a second, and the client's streams end, so that it opens them again.

            EXAMPLES:
              bodega token grant tokens.db 5f2a91c07b3de84610fa2c9d --on notes --on folders --rights read
            """)

    @OptionGroup var store: StoreOptions

    @Argument(help: "The id of the token, see bodega help token list.")
    var id: String

    @OptionGroup var grants: GrantOptions

    func validate() throws {
        // A command that is not complete must not give the right to everything.
        if grants.areDefaults { throw ValidationError("Give --on, --where or --rights: what the client may do.") }
    }

    func run(on console: Console) async throws {
        #if Server
        try await store.useExisting(on: console) { store in
            let tokens = AccessTokens(storage: store.engine)
            guard try await tokens.setGrants(grants.grants, ofTokenWithID: id) != nil else {
                throw ToolError.hasNoToken
            }
        }
        #else
        throw ToolError.hasNoServer
        #endif
    }
}

/// `bodega token revoke`.
struct RevokeTokenCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke a token: it is refused from now on, and its streams end.")

    @OptionGroup var store: StoreOptions

    @Argument(help: "The id of the token, see bodega help token list.")
    var id: String

    func run(on console: Console) async throws {
        #if Server
        try await store.useExisting(on: console) { store in
            let tokens = AccessTokens(storage: store.engine)
            guard try await tokens.contains(id: id) else {
                throw ToolError.hasNoToken
            }
            try await tokens.revoke(id: id)
        }
        #else
        throw ToolError.hasNoServer
        #endif
    }
}

#if Server
extension ToolError {
    fileprivate static var hasNoToken: ToolError { ToolError(.failure, "There is no token with this id.") }
}
#endif
#endif
