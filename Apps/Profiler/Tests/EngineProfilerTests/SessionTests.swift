import Bodega
import BodegaTesting
import Foundation
import Testing

@testable import EngineProfiler

@Suite struct SessionTests {

    /// Profiles an engine and returns its results.
    private func profile(
        _ operations: [EngineProfiler.Operation] = EngineProfiler.Operation.ofEngines,
        sizes: [Int] = [50],
        concurrency: Int = 1,
        valueBytes: Int = 64,
        budget: Budget = .calls(20),
        report: @escaping @Sendable (ProgressEvent) -> Void = { _ in },
        open: @escaping @Sendable (URL) async throws -> any StorageEngine
    ) async throws -> [SizeResult] {
        let temporary = try TemporaryData(in: FileManager.default.temporaryDirectory)
        let plan = Plan(
            subjects: [try Subject("mine", engines: [ProfiledEngine("mine", open: open)])],
            operations: operations, sizes: sizes, valueBytes: valueBytes, batch: 10, concurrency: concurrency,
            budget: budget, durability: .relaxed, seed: 1, isQuick: true)
        let session = Session(plan: plan, temporary: temporary, stopwatch: Stopwatch(overhead: 0), report: report)
        let result: Result<[EngineResult], any Error>
        do {
            result = .success(try await session.run())
        } catch {
            result = .failure(error)
        }
        try temporary.remove()
        #expect(!FileManager.default.fileExists(atPath: temporary.folder.path))
        return try result.get()[0].sizes
    }

    // The operations on all items check that their number is restored.
    @Test(arguments: ["sqlite", "disk", "memory"], [1, 3])
    func `Every operation is measured with the given number of calls`(name: String, concurrency: Int) async throws {
        let sizes = try await profile(
            EngineProfiler.Operation.allCases, concurrency: concurrency, budget: .calls(11)
        ) { folder in
            let address: StorageAddress =
                switch name {
                case "sqlite": .sqlite(folder.appendingPathComponent("x.sqlite3").path)
                case "disk": .disk(folder.path)
                default: .memory
                }
            return try address.open(durability: .relaxed)
        }
        #expect(sizes[0].measurements.map(\.operation) == EngineProfiler.Operation.allCases.map(\.rawValue))
        for measurement in sizes[0].measurements {
            #expect(measurement.calls == 11, "\(measurement.operation)")
            #expect(measurement.slices.count == Budget.slices)
            #expect(measurement.histogram.reduce(0) { $0 + $1[1] } == 11)
            #expect(measurement.itemsPerSecond > 0)
        }
    }

    @Test func `A time budget makes at least one call in each slice`() async throws {
        let sizes = try await profile([.read, .readAll, .write], budget: .time(.nanoseconds(10))) { _ in
            MemoryStorageEngine()
        }
        for measurement in sizes[0].measurements { #expect(measurement.calls == Budget.slices) }
    }

    @Test(arguments: WrongEngine.Fault.allCases)
    func `A wrong engine is detected, and the error names the operation`(fault: WrongEngine.Fault) async throws {
        let error = await #expect(throws: EngineFailure.self) {
            try await profile { _ in WrongEngine(fault) }
        }
        let failure = try #require(error)
        let expected: [WrongEngine.Fault: (operation: String, hasKey: Bool)] = [
            .forgetsSomeWrites: ("write", true), .returnsOtherBytes: ("write", true),
            .returnsFewerBytes: ("write", true), .keepsOldValues: ("update", true),
            .inventsItems: ("read-missing", true), .doesNotRemove: ("remove", true), .deniesItems: ("exists", true),
            .countsWrong: ("fill", false), .listsOneTwice: ("read-all", false),
        ]
        #expect(failure.operation == expected[fault]?.operation)
        #expect((failure.failure.key != nil) == expected[fault]?.hasKey, "\(failure)")
        #expect(failure.description.hasPrefix("The engine \"mine\" failed. Operation \(failure.operation), 50 items"))
    }

    @Test func `The error for a failing engine names operation, key and reason`() async throws {
        let error = await #expect(throws: EngineFailure.self) {
            try await profile([.read]) { _ in
                FaultInjectingStorageEngine(MemoryStorageEngine(), faults: [.fail([.fetch], .number(3))])
            }
        }
        let text = try #require(error).description
        #expect(text.contains("Operation read, 50 items, key \"item-"))
        #expect(text.contains("This failure was injected by a test."))
    }

    @Test func `The error for an engine that can't be opened names the operation`() async throws {
        let error = await #expect(throws: EngineFailure.self) {
            try await profile { _ in throw StorageError(.cannotOpen, "The server does not respond.") }
        }
        #expect(
            try #require(error).description.contains(
                "Operation open, 50 items: cannotOpen: The server does not respond."))
    }

    @Test func `An engine that loses the items in its folder is detected`() async throws {
        let error = await #expect(throws: EngineFailure.self) {
            try await profile { folder in
                try Data("something".utf8).write(to: folder.appendingPathComponent("file"))
                return MemoryStorageEngine()
            }
        }
        #expect(try #require(error).description.contains("after reopening, the engine has 0 items"))
    }

    @Test func `The use of disk is measured after the engine is closed`() async throws {
        let sizes = try await profile([.count], sizes: [200], valueBytes: 1000) { folder in
            try DiskStorageEngine(opening: .init(url: folder), durability: .relaxed)
        }
        let medium = try #require(sizes[0].medium)
        #expect(medium.files >= 200)
        #expect(medium.bytes >= 200_000)
        #expect(medium.allocated >= 200_000)
    }

    /// In a process of its own, because other tests allocate and free memory in this one.
    @Test func `Memory before, during and after is measured where the system provides it`() async {
        await #expect(processExitsWith: .success) {
            let sizes = try await SessionTests().profile([.count], sizes: [20_000], valueBytes: 1000) { _ in
                MemoryStorageEngine()
            }
            let memory = try #require(sizes[0].memory)
            #expect(memory.after - memory.before > 5_000_000)
            if let peak = memory.peak { #expect(peak >= memory.after - 1_000_000) }
        }
    }

    @Test func `Equal seeds give equal items, and different seeds different ones`() {
        let data = Dataset(count: 10, valueBytes: 100, seed: 5)
        #expect(data.value(3, revision: 1) == Dataset(count: 10, valueBytes: 100, seed: 5).value(3, revision: 1))
        #expect(data.value(3, revision: 1) != Dataset(count: 10, valueBytes: 100, seed: 6).value(3, revision: 1))
        #expect(data.value(3, revision: 1) != data.value(3, revision: 2))
        #expect(data.value(3, revision: 1) != data.value(4, revision: 1))
    }

    @Test(arguments: [1, 2, 3, 7])
    func `The shares of workers don't overlap, and new items are new`(workers: Int) {
        let data = Dataset(count: 20, valueBytes: 8, seed: 1)
        var shares = (0..<workers).map { Share(data, worker: $0, of: workers, seed: 1) }
        let items = shares.flatMap { share in (0..<share.count).map(share.item) }
        #expect(items.sorted() == Array(0..<20))
        let new = shares.indices.flatMap { worker in (0..<5).map { _ in shares[worker].newItem() } }
        #expect(Set(new).count == new.count)
        #expect(new.allSatisfy { $0 >= 20 })
    }
}
