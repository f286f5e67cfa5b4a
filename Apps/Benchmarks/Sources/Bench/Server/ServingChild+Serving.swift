import BenchHarness
import Bodega
import BodegaServer
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

// In the child.
extension ServingChild {

    /// The child's work, until its input ends.
    static func serve(_ kind: Kind, _ folder: String) async throws {
        try OpenFiles.raiseLimit()
        let file = URL(fileURLWithPath: folder).appendingPathComponent("data.sqlite3")
        let database = try SQLiteStorageEngine(openingFile: file)
        let notes = try database.collection(named: "notes")
        // Tokens in a file of their own: their commits are not those of the items.
        let tokens = AccessTokens(
            storage: try SQLiteStorageEngine(
                openingFile: URL(fileURLWithPath: folder).appendingPathComponent("tokens.sqlite3")))
        var logger = Logger(label: "bench")
        logger.logLevel = .error
        let running: @Sendable (Int) async -> Void = { port in
            LineChild.say("serving")
            LineChild.say("\(port)")
        }
        let commands = commands()
        let answering = Task {
            for await command in commands { try await LineChild.say(answer(command, notes, tokens)) }
            exit(0)
        }
        defer { answering.cancel() }
        switch kind {
        case .storage:
            var options = StorageServerOptions()
            options.port = 0
            try await StorageServer(
                access: tokens, collections: ["notes": notes], options: options, logger: logger, onRunning: running
            ).run()
        case .bare:
            let responses = try await responses(notes)
            let router = Router()
            router.get("v1/collections/:collection/items/:key") { _, context in
                guard let key = context.parameters.get("key"), let response = responses[key] else {
                    return Response(status: .notFound)
                }
                return response
            }
            try await Application(
                router: router,
                configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0), serverName: nil),
                onServerRunning: { channel in await running(channel.localAddress?.port ?? 0) }, logger: logger
            ).runService()
        }
    }

    /// The lines of the input, which a thread of its own waits for.
    private static func commands() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream<String>.makeStream()
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return stream
    }

    private static func answer(
        _ command: String, _ notes: SQLiteStorageEngine, _ tokens: AccessTokens
    ) async throws -> String {
        let parts = command.split(separator: " ").map { String($0) }
        switch (parts.first, parts.dropFirst().first) {
        case ("token", let owner):
            let filter = owner.map { "@.owner == \"\($0)\"" }
            let grant = AccessGrant(collection: "notes", matching: filter)
            return try await tokens.create(name: owner ?? "all", grants: [grant]).token
        case ("memory", _): return "\(try ResidentMemory.now())"
        case ("processor", _): return "\(Int64(try ProcessorTime.ofProcess() / .nanoseconds(1)))"
        case ("write", let number?):
            guard let number = Int(number), let owner = parts.last else { break }
            try await notes.write(ServedNotes.data(number, owner: owner), key: ServedNotes.key(number))
            return "\(FollowingChild.now)"
        default: break
        }
        throw VerificationFailure("\(command) is no command")
    }

    /// What `StorageServer` answers, by the names of the items.
    private static func responses(_ notes: SQLiteStorageEngine) async throws -> [String: Response] {
        guard let created = HTTPField.Name("Emporium-Created"), let updated = HTTPField.Name("Emporium-Updated") else {
            throw VerificationFailure("the names of the headers are not valid")
        }
        var responses: [String: Response] = [:]
        for item in try await notes.fetchAll() {
            responses[item.key.identity] = Response(
                status: .ok,
                headers: [
                    .eTag: "\"AAAAAAAAAAAAAAAAAAAAAAAA\"", .cacheControl: "no-cache",
                    .contentType: "application/octet-stream", .acceptRanges: "bytes",
                    .xContentTypeOptions: "nosniff", created: "1700000000000",
                    updated: "1700000000000",
                ], body: ResponseBody(byteBuffer: ByteBuffer(bytes: item.data)))
        }
        return responses
    }
}
