#if Postgres
import Bodega
import BodegaPostgres
import BodegaTesting
import Boutique
import Foundation
import TestSupport

/// The work of a process with stores: it changes them continuously, and on request reports whether they agree with the
/// database, and whether the database's contents are consistent with the writes.
///
/// It reads commands, one on each line, and responds with a line: `pause` ends all operations, `check` compares,
/// `resume` continues. It ends when its input ends.
@MainActor
final class LoadTask {
    private let name: String
    private let url: String
    private var random: SeededGenerator
    private let history = RegisterHistory()
    private var stores: [Store<Visit>] = []
    private var writers: [Task<Void, Never>] = []
    private let isPaused = Locked(false)
    private var numbers = 0
    private var reported: Set<String> = []

    /// Reads arguments: the name of the process, a letter, the URL of the database and a seed.
    nonisolated init(_ arguments: [String]) {
        (name, url) = (arguments[0], arguments[1])
        random = SeededGenerator(seed: UInt64(arguments[2]) ?? 0)
    }

    func run() async throws {
        // One store with the default timeouts, one with short ones, and one with few connections.
        let options = [
            PostgresDatabase.Options(), PostgresDatabase.Options(connectTimeout: 2, timeout: 3),
            PostgresDatabase.Options(maximumConnections: 2, connectTimeout: 5, timeout: 15),
        ]
        for options in options {
            let engine = try await PostgresStorageEngine(connecting: url, collection: "visits", options: options)
            stores.append(try await Store<Visit>(storage: engine))
        }
        begin()
        report("ready")
        while let command = await Self.nextLine() {
            switch command {
            case "pause":
                await pause()
                report("paused")
            case "check": await check()
            case "resume":
                begin()
                report("resumed")
            default: report("unknown command \"\(command)\"")
            }
        }
    }

    private static func nextLine() async -> String? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: readLine()) }
        }
    }

    // MARK: Writing

    private func begin() {
        isPaused.withLock { $0 = false }
        writers = stores.indices.flatMap { number in
            (0..<2).map { _ in
                Task { while !isPaused.withLock({ $0 }) { await write(to: number) } }
            }
        }
    }

    private func pause() async {
        isPaused.withLock { $0 = true }
        for writer in writers { await writer.value }
    }

    /// Performs a random operation. Keys begin with the process's name, so that its history has all their changes.
    private func write(to place: Int) async {
        let store = stores[place]
        numbers += 1
        let version = "\(name)\(numbers) of store \(place)"
        let ids = (0..<8).map { "\(name)-\($0)" }.shuffled(using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4:
            await write([ids[0]: version], place) { try await store.insert(Visit(id: ids[0], version: version)) }
        case 4..<6:
            await write([ids[0]: nil], place) { try await store.remove(id: ids[0]) }
        case 6..<8:
            let visits = ids.prefix(3).map { Visit(id: $0, version: version) }
            await write(Dictionary(uniqueKeysWithValues: visits.map { ($0.id, $0.version) }), place) {
                try await store.insert(visits)
            }
        default:
            // An item that is written only once.
            let id = "\(name)-once-\(numbers)"
            await write([id: version], place) { try await store.insert(Visit(id: id, version: version)) }
        }
        // Limit the load, so that a small machine has time for the servers.
        do { try await Task.sleep(for: .milliseconds(Int.random(in: 5...40, using: &random))) } catch {}
    }

    private func write(_ values: [String: String?], _ place: Int, _ body: () async throws -> Void) async {
        // The engine settles an unknown outcome before it writes again.
        await history.write(
            values, by: place,
            mayComeLate: { ($0 as? StorageError)?.message.contains("is not known yet") == true }, body)
    }

    // MARK: Checking

    /// Compares the stores with the database until they agree, and the database's contents with the writes.
    private func check() async {
        let began = ContinuousClock.now
        var stored: [Visit] = []
        var outcome = "agreed"
        do {
            // A separate engine, not one of those under test.
            let engine = try await PostgresStorageEngine(
                connecting: url, collection: "visits", options: .init(connectTimeout: 30, timeout: 60))
            defer { engine.database.disconnect() }
            let objects = ObjectStorage<Visit>(storage: engine)
            do {
                try await waitUntil("the stores agreed", within: .seconds(60)) {
                    stored = try await objects.fetchAllObjects().objects
                    // The server orders items by numbers that transactions take. Transactions can commit in another
                    // order.
                    let sorted = stored.sorted { $0.id < $1.id }
                    return stores.allSatisfy { store in store.items.sorted { $0.id < $1.id } == sorted }
                }
            } catch {
                outcome = "disagreed \(difference(from: stored)), \(error);"
            }
            let seconds = (ContinuousClock.now - began) / .seconds(1)
            try await history.readAll {
                stored = try await objects.fetchAllObjects().objects
                return Dictionary(
                    uniqueKeysWithValues: stored.filter { $0.id.hasPrefix("\(name)-") }.map { ($0.id, $0.version) })
            }
            for violation in history.violations() where reported.insert(violation).inserted {
                report("violation \(violation)")
            }
            let reordered = stores.count { $0.items.map(\.id) != stored.map(\.id) }
            report("\(outcome) \(seconds) \(history.count) \(history.thrownCount) \(reordered)")
        } catch {
            report("disagreed, because the database could not be read: \(error)")
        }
    }

    private func difference(from stored: [Visit]) -> String {
        stores.enumerated().map { number, store in
            func names(_ visits: [Visit]) -> Set<String> { Set(visits.map { "\($0.id)=\($0.version)" }) }
            let (shown, there) = (names(store.items), names(stored))
            return
                "store \(number) is \(store.state) and shows \(shown.subtracting(there).sorted().prefix(5)) too many, "
                + "\(there.subtracting(shown).sorted().prefix(5)) too few"
        }.joined(separator: "; ")
    }
}
#endif
