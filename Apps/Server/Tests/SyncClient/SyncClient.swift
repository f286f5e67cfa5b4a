import Bodega
import BodegaRemote
import BodegaSync
import Foundation

/// A client of the test of synchronization in processes: a file of its own, which is synchronized, and random
/// transactions.
///
/// Arguments: the file, the journal, the server's address, a token, a name that no other process has, the seed, the
/// transactions per second, and the number of clients.
///
/// It prints `ready`, and begins after a line on its standard input. After the next line it ends its transactions, and
/// prints `quiet` and, when everything is synchronized, `settled`. It ends with its standard input.
@main
struct SyncClient {
    private typealias Item = [String: String]

    private let sync: StorageSync
    private let database: SyncedStorageEngine
    private let collections: [String: ObjectStorage<Item>]
    private let journal: Journal
    private let name: String
    /// The items that clients change, of each kind. Fewer would be in conflict all the time, more hardly ever.
    private let (singles, pairs, sets): (Int, Int, Int)
    private var random: RandomNumbers
    private var lastNumber = 0

    private init(_ arguments: [String]) async throws {
        let file = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: arguments[1]), durability: .relaxed)
        guard let address = URL(string: arguments[3]), let seed = UInt64(arguments[6]), let clients = Int(arguments[8])
        else {
            throw StorageError(.invalidArgument, "The arguments are invalid.")
        }
        var requests = RemoteStorageOptions()
        requests.timeLimit = .seconds(4)
        let token = arguments[4]
        let server = try RemoteDatabase(address, options: requests) { token }
        var options = SyncOptions()
        options.maximumDelay = .seconds(3)
        // A pull of one collection alone would divide the pairs.
        options.startsPaused = true
        sync = try await StorageSync(
            local: { try file.collection(named: $0) }, remote: { try await server.collection(named: $0) },
            options: options)
        // Pairs have the same policy in both collections, another one in each process.
        var random = RandomNumbers(seed: seed)
        let policies = [SyncConflictPolicy.laterWins, .earlierWins].shuffled(using: &random)
        let engine = try await sync.collection(named: "a", policy: policies[0])
        database = engine
        var collections = ["a": ObjectStorage<Item>(storage: engine)]
        for (name, policy) in [("b", policies[0]), ("c", policies[1]), ("d", policies[1])] {
            let engine = try await sync.collection(named: name, policy: policy)
            collections[name] = ObjectStorage(storage: engine)
        }
        self.collections = collections
        await sync.resume()
        (name, self.random) = (arguments[5], random)
        (singles, pairs, sets) = (8 * clients, 3 * clients, 3 * clients)
        journal = try Journal(URL(fileURLWithPath: arguments[2]))
    }

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 9, let rate = Double(arguments[7]) else {
            throw StorageError(.invalidArgument, "sync-client FILE JOURNAL ADDRESS TOKEN NAME SEED RATE CLIENTS")
        }
        var client = try await SyncClient(arguments)
        let (lines, continuation) = AsyncStream<Void>.makeStream()
        Thread.detachNewThread {
            while readLine() != nil { continuation.yield() }
            exit(0)
        }
        var commands = lines.makeAsyncIterator()
        say("ready")
        await commands.next()
        let isEnding = Flag()
        Task {
            for await _ in lines { isEnding.raise() }
        }
        while !isEnding.isRaised {
            try await client.change()
            try await Task.sleep(for: .seconds(Double.random(in: 0...2, using: &client.random) / rate))
        }
        say("quiet")
        try await client.sync.settled()
        say("settled")
        while true { try await Task.sleep(for: .seconds(1_000)) }
    }

    private static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    // MARK: Transactions

    private mutating func change() async throws {
        lastNumber += 1
        let token = "\(name).\(lastNumber)"
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<35:
            try await setMember("xyz".randomElement(using: &random).map(String.init) ?? "x", to: token)
        case 35..<55: try await addToSet(token)
        case 55..<80: try await changePair(token)
        case 80..<90: try await remove(token)
        default: try await insert(token)
        }
    }

    private mutating func single() -> (collection: String, key: String) {
        let collection = "abc".randomElement(using: &random).map(String.init) ?? "a"
        return (collection, "s\(Int.random(in: 0..<singles, using: &random))")
    }

    private func storage(_ collection: String) throws -> ObjectStorage<Item> {
        guard let storage = collections[collection] else {
            throw StorageError(.invalidArgument, "There is no collection \(collection).")
        }
        return storage
    }

    /// An item without tokens. It has a member of its own, because objects with a single member are not merged inside.
    private static func empty(_ key: String) -> Item { ["id": key] }

    /// Sets a member of an item, which is inserted if there is none.
    private mutating func setMember(_ member: String, to token: String) async throws {
        let (collection, key) = single()
        let storage = try storage(collection)
        try await journal.noting("set", token, ["\(collection)/\(key)"], member) {
            try await storage.update(forKey: CacheKey(key), default: Self.empty(key)) { $0[member] = token }
        }
    }

    /// Adds a member to an item whose members are never removed.
    private mutating func addToSet(_ token: String) async throws {
        let key = "t\(Int.random(in: 0..<sets, using: &random))"
        let storage = try storage("d")
        try await journal.noting("add", token, ["d/\(key)"], token) {
            try await storage.update(forKey: CacheKey(key), default: Self.empty(key)) { $0[token] = token }
        }
    }

    /// Sets a member of two items in different collections, always the same in both.
    private mutating func changePair(_ token: String) async throws {
        let key = "p\(Int.random(in: 0..<pairs, using: &random))"
        let (first, second) = (try storage("a"), try storage("b"))
        try await journal.noting("pair", token, ["a/\(key)", "b/\(key)"], "p") {
            try await database.transaction { transaction in
                for storage in [first, second] {
                    var item = try await transaction.object(forKey: CacheKey(key), in: storage) ?? Self.empty(key)
                    item["p"] = token
                    try transaction.store(item, forKey: CacheKey(key), in: storage)
                }
            }
        }
    }

    private mutating func remove(_ token: String) async throws {
        let (collection, key) = single()
        let storage = try storage(collection)
        try await journal.noting("remove", token, ["\(collection)/\(key)"], nil) {
            try await storage.removeObject(forKey: CacheKey(key))
        }
    }

    /// Inserts an item that no one else knows.
    private mutating func insert(_ token: String) async throws {
        let collection = "abc".randomElement(using: &random).map(String.init) ?? "a"
        let storage = try storage(collection)
        try await journal.noting("insert", token, ["\(collection)/n\(token)"], "x") {
            try await storage.store(["id": "n\(token)", "x": token], forKey: CacheKey("n\(token)"))
        }
    }
}

/// Whether the transactions are to end.
private final class Flag: @unchecked Sendable {
    // @unchecked because the lock guards the value.
    private let lock = NSLock()
    private var value = false

    var isRaised: Bool { lock.withLock { value } }

    func raise() { lock.withLock { value = true } }
}

/// Random numbers.
///
/// Source: S. Vigna, splitmix64, https://prng.di.unimi.it/splitmix64.c.
private struct RandomNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
