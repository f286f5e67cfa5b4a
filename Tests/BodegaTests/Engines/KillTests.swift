import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Tests with another process that writes items, prints each key when its write has returned, and is killed at random
/// moments.
@Suite struct KillTests {

    @Test(
        "Items acknowledged before a kill are complete; batches are stored all or nothing",
        arguments: ["sqlite", "disk"], [StorageDurability.full, .relaxed]
    )
    func kill(engine kind: String, durability: StorageDurability) async throws {
        let folder = TemporaryFolder()
        let seed = Seed.current
        print("kill test of \(kind), \(durability): EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        var acknowledged: [String] = []
        for round in 0..<TestSizes.kills {
            let child = try Child("write", kind, folder.path, "\(durability)", "r\(round)", "100000")
            var printed: [String] = []
            for _ in 0..<Int.random(in: 1...60, using: &random) {
                printed.append(try #require(await child.nextLine()))
            }
            child.kill()
            // Lines that it printed before it ended count, too.
            printed += await child.lines()
            let engine = try openEngine(kind, at: folder, durability)
            try await verify(printed, writtenWith: "r\(round)", in: engine)
            acknowledged += printed.filter { !$0.hasPrefix("batch ") }
        }
        let engine = try openEngine(kind, at: folder, durability)
        let keys = acknowledged.map { CacheKey($0) }
        #expect(try await engine.fetchKeys(among: keys) == keys)
        if let engine = engine as? SQLiteStorageEngine {
            #expect(try await engine.integrityCheck() == [])
        }
    }

    @Test(
        "The same holds for processes that are suspended in between, and for one that writes concurrently",
        arguments: ["sqlite", "disk"]
    )
    func stall(engine kind: String) async throws {
        let folder = TemporaryFolder()
        print("stalls of \(kind): EMPORIUM_SEED=\(Seed.current)")
        let writers = try (0..<2).map { try ReplaceableWriter("w\($0)", kind, folder) }
        let engine = try openEngine(kind, at: folder, .relaxed)
        let history = RegisterHistory()
        let isOver = Locked(false)
        let here = Task {
            var random = SeededGenerator(seed: Seed.current)
            var number = 0
            while !isOver.withLock({ $0 }) {
                number += 1
                let key = "here \(Int.random(in: 0..<3, using: &random))"
                let failure =
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: await history.read(key) { try await engine.fetch(key: CacheKey(key))?.text }
                    case 1: await history.write([key: nil]) { try await engine.remove(key: CacheKey(key)) }
                    default:
                        await history.write([key: "\(number)"]) { [number] in
                            try await engine.write(Data("\(number)".utf8), key: CacheKey(key))
                        }
                    }
                #expect(failure == nil)
            }
        }
        let faults = writers.flatMap { writer in
            [
                .stopped("a writer") { [writer.process] }, Fault("a writer killed") { try writer.replace() },
                // A lock that a suspended process holds is released when the process ends.
                Fault("a writer stopped, then killed") {
                    ProcessSignal.stop.send(to: writer.process)
                } end: {
                    try writer.replace()
                },
            ]
        }
        defer { isOver.withLock { $0 = true } }
        try await FaultPlan(
            faults + [.stopped("both writers") { writers.map(\.process) }], seed: Seed.current, rounds: 30,
            length: 1...200
        ).run(patience: .seconds(1)) { history.count + writers.reduce(0) { $0 + $1.count } }
        isOver.withLock { $0 = true }
        await here.value
        for writer in writers {
            for (prefix, printed) in await writer.finish() {
                try await verify(printed, writtenWith: prefix, in: engine)
            }
        }
        for key in 0..<3 {
            await history.read("here \(key)") { try await engine.fetch(key: CacheKey("here \(key)"))?.text }
        }
        #expect(history.violations() == [])
        if let engine = engine as? SQLiteStorageEngine { #expect(try await engine.integrityCheck() == []) }
    }

    private func verify(_ printed: [String], writtenWith prefix: String, in engine: any StorageEngine) async throws {
        var batches: [String: Set<String>] = [:]
        var found: Set<String> = []
        for (key, data) in try await engine.fetchAll() where key.rawValue.hasPrefix(prefix + "-") {
            #expect(data == Data(String(repeating: key.rawValue + ";", count: 40).utf8), "torn: \(key)")
            found.insert(key.rawValue)
            if let range = key.rawValue.range(of: "-batch-") {
                batches[String(key.rawValue[..<range.lowerBound]), default: []].insert(key.rawValue)
            }
        }
        for (batch, items) in batches {
            #expect(items.count == 5, "half a batch: \(batch)")
        }
        for line in printed {
            guard line.hasPrefix("batch ") else {
                #expect(found.contains(line), "lost: \(line)")
                continue
            }
            // The batch is stored, or the next batch of the same writer has replaced it.
            let name = String(line.dropFirst(6))
            let parts = name.split(separator: "-")
            let next = "\(parts[0])-\(parts[1])-\((Int(parts[2]) ?? 0) + 1)"
            let isStored = batches[name] != nil
            #expect(isStored || printed.contains("batch " + next) || batches[next] != nil, "lost: \(line)")
            #expect(!(isStored && batches[next] != nil), "both a batch and the one that replaces it: \(line)")
        }
    }
}

/// Another process that writes and can be killed and replaced by a new one.
private final class ReplaceableWriter: Sendable {
    private struct State {
        var children: [Child] = []
        var readers: [Task<[String], Never>] = []
        var count = 0
    }

    private let name: String
    private let kind: String
    private let folder: TemporaryFolder
    private let state = Locked(State())

    init(_ name: String, _ kind: String, _ folder: TemporaryFolder) throws {
        (self.name, self.kind, self.folder) = (name, kind, folder)
        try start()
    }

    /// The current process.
    var process: Int32 { state.withLock { $0.children.last?.processIdentifier ?? 0 } }

    /// The number of writes that were acknowledged.
    var count: Int { state.withLock { $0.count } }

    func replace() throws {
        state.withLock { $0.children.last }?.kill()
        try start()
    }

    private func start() throws {
        try state.withLock { state in
            let child = try Child(
                "write", kind, folder.path, "relaxed", "\(name)r\(state.children.count)", "100000")
            state.children.append(child)
            state.readers.append(
                Task {
                    var printed: [String] = []
                    while let line = await child.nextLine() {
                        printed.append(line)
                        self.state.withLock { $0.count += 1 }
                    }
                    return printed
                })
        }
    }

    /// Ends the process.
    ///
    /// - Returns: The lines that all of the processes printed, by the prefix of their keys.
    func finish() async -> [(prefix: String, printed: [String])] {
        state.withLock { $0.children.last }?.kill()
        var all: [(String, [String])] = []
        for (number, reader) in state.withLock(\.readers).enumerated() {
            all.append(("\(name)r\(number)", await reader.value))
        }
        return all
    }
}

extension Data {
    fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}
