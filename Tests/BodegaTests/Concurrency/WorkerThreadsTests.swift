import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega

@Suite("Threads for blocking work")
struct WorkerThreadsTests {

    @Test("are at most as many as allowed, and end when they have nothing to do")
    func limit() async throws {
        let threads = WorkerThreads(limit: 3, idleTime: 0)
        let running = Locked((now: 0, most: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    try await threads.value {
                        running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                        running.withLock { $0.now -= 1 }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(running.withLock { $0.most } <= 3)
        while threads.count > 0 { await Task.yield() }
        // Another one starts.
        #expect(try await threads.value { 1 } == 1)
    }

    @Test("start while others are blocked, up to the limit")
    func blocked() async throws {
        let threads = WorkerThreads(limit: 4, idleTime: 5)
        let (arrivals, open) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        for _ in 0..<3 {
            threads.run {
                arrivals.signal()
                open.wait()
            }
        }
        let count = try await threads.value {
            for _ in 0..<3 { arrivals.wait() }
            return threads.count
        }
        #expect(count == 4)
        for _ in 0..<3 { open.signal() }
    }
}

/// Whether queries that compute for a long time keep the tasks of a program waiting.
@Suite("Long queries", .serialized)
struct LongQueryTests {

    /// An object that takes long to decode: until another task has run, or for 20 seconds.
    private struct Slow: Codable {
        var id: Int
        static let state = Locked((busy: 0, isOver: true, hasTimedOut: false))

        init(id: Int) { self.id = id }

        init(from decoder: any Decoder) throws {
            id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
            let isFirst = Self.state.withLock { state in
                if state.isOver { return false }
                state.busy += 1
                return true
            }
            let end = ContinuousClock.now + .seconds(20)
            while isFirst, !Self.state.withLock({ $0.isOver }) {
                if ContinuousClock.now < end { continue }
                Self.state.withLock {
                    $0.isOver = true; $0.hasTimedOut = true
                }
            }
        }
    }

    @Test("of SQLite occupy no thread that other tasks and writes need")
    func sqlite() async throws {
        let folder = TemporaryFolder()
        let count = ProcessInfo.processInfo.activeProcessorCount + 1
        var storages: [ObjectStorage<Slow>] = []
        for number in 0..<count {
            let engine = try SQLiteStorageEngine(openingFile: folder.file("\(number)"), durability: .relaxed)
            let storage = ObjectStorage<Slow>(storage: engine)
            // Larger than what is read on the caller's thread.
            try await engine.write(Data(count: 1 << 17), key: CacheKey("large"))
            try await storage.store(Slow(id: number), forKey: CacheKey("\(number)"))
            storages.append(storage)
        }
        Slow.state.withLock { $0 = (0, false, false) }
        let queries = storages.map { storage in
            Task { try await storage.fetch(Query(), omittingUndecodable: true).objects.count }
        }
        while Slow.state.withLock({ $0.busy < count && !$0.isOver }) { await Task.yield() }
        try await storages[0].storage.write(Data(), key: CacheKey("written"))
        await withCheckedContinuation { continuation in DispatchQueue.global().async { continuation.resume() } }
        await Task {}.value
        Slow.state.withLock { $0.isOver = true }
        #expect(Slow.state.withLock { !$0.hasTimedOut })
        for query in queries { #expect(try await query.value == 1) }
    }

    private struct Light: Codable {
        var id: Int
        /// How many were decoded, and by how many queries.
        static let state = Locked((decoded: 0, queries: Set<Int>()))

        init(id: Int) { self.id = id }

        init(from decoder: any Decoder) throws {
            id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
            Self.state.withLock { [id] state in
                state.decoded += 1
                state.queries.insert(id / 10_000)
            }
        }
    }

    @Test("in memory suspend, so that a task that becomes ready runs long before they end")
    func memory() async throws {
        let count = ProcessInfo.processInfo.activeProcessorCount
        var storages: [ObjectStorage<Light>] = []
        for number in 0..<count {
            let storage = ObjectStorage<Light>(storage: MemoryStorageEngine())
            let ids = number * 10_000..<(number + 1) * 10_000
            try await storage.store(ids.map { (CacheKey("\($0)"), Light(id: $0)) })
            storages.append(storage)
        }
        Light.state.withLock { $0 = (0, []) }
        let other = Task {
            // Each thread is occupied by a query.
            while Light.state.withLock({ $0.queries.count < count }) { await Task.yield() }
            return Light.state.withLock { $0.decoded }
        }
        let queries = storages.map { storage in
            Task { try await storage.count(Query(where: #Predicate { $0.id % 2 == 0 })) }
        }
        for query in queries { #expect(try await query.value == 5_000) }
        #expect(await other.value < count * 5_000)
    }
}
