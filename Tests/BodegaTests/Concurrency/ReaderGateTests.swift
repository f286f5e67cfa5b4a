import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Bodega

@Suite struct ReaderGateTests {
    @Test("Readers that block their threads and readers without threads share the places, and all of them enter")
    func sharing() async {
        let gate = ReaderGate(count: 2)
        let inside = Locked((now: 0, most: 0, all: 0))
        let visit: @Sendable () -> Void = {
            inside.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.all + 1) }
            inside.withLock { $0.now -= 1 }
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        gate.schedule {
                            visit()
                            return { continuation.resume() }
                        }
                    }
                }
            }
            group.addTask {
                await withCheckedContinuation { continuation in
                    DispatchQueue.global().async {
                        DispatchQueue.concurrentPerform(iterations: 50) { _ in
                            gate.enterWaiting()
                            visit()
                            gate.leave()
                        }
                        continuation.resume()
                    }
                }
            }
        }
        #expect(inside.withLock { $0.all } == 100)
        #expect(inside.withLock { $0.most } <= 2)
        #expect(gate.tryEnter() && gate.tryEnter() && !gate.tryEnter())
    }

    @Test("A closure that excludes readers runs alone, even if several callers exclude readers")
    func exclusion() async {
        let gate = ReaderGate(count: 3)
        let state = Locked((inside: 0, isAlone: false, meetings: 0))
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                DispatchQueue.concurrentPerform(iterations: 400) { number in
                    if number % 4 == 0 {
                        gate.whileEmpty {
                            state.withLock { state in
                                if state.inside > 0 || state.isAlone { state.meetings += 1 }
                                state.isAlone = true
                            }
                            state.withLock { $0.isAlone = false }
                        }
                    } else {
                        gate.enterWaiting()
                        state.withLock { state in
                            if state.isAlone { state.meetings += 1 }
                            state.inside += 1
                        }
                        state.withLock { $0.inside -= 1 }
                        gate.leave()
                    }
                }
                continuation.resume()
            }
        }
        #expect(state.withLock { $0.meetings } == 0)
        #expect(gate.tryEnter() && gate.tryEnter() && gate.tryEnter() && !gate.tryEnter())
    }

    /// An executor that runs the first part of a task, and the following parts only after they are released.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private final class HoldingExecutor: TaskExecutor {
        private enum State {
            case new
            case holds([UnownedJob])
            case released
        }

        private let queue = DispatchQueue(label: "held")
        private let state = Locked(State.new)
        private let held: @Sendable () -> Void

        /// - Parameter held: Is called for each part that is held.
        init(held: @escaping @Sendable () -> Void) { self.held = held }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let isHeld = state.withLock { state in
                switch state {
                case .new:
                    state = .holds([])
                    return false
                case .holds(let jobs):
                    state = .holds(jobs + [job])
                    return true
                case .released: return false
                }
            }
            if isHeld { held() } else { run(job) }
        }

        func release() {
            let jobs = state.withLock { state in
                defer { state = .released }
                guard case .holds(let jobs) = state else { return [UnownedJob]() }
                return jobs
            }
            jobs.forEach(run)
        }

        private func run(_ job: UnownedJob) {
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    @Test("A reader whose task can't continue does not block other readers")
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func suspendedTask() async throws {
        let folder = TemporaryFolder()
        try await SQLiteStorageEngine(opening: folder.directory).write(Data([1]), key: CacheKey("a"))
        // This engine has one place for readers.
        let engine = try SQLiteStorageEngine(readingFile: folder.file("data.sqlite3"))
        var wasHeld = false
        // A read that ends before its task waits for it is not held.
        while !wasHeld {
            let (held, continuation) = AsyncStream.makeStream(of: Void.self)
            let executor = HoldingExecutor { continuation.yield() }
            let reading = Task(executorPreference: executor) {
                defer { continuation.finish() }
                return try await engine.fetchAll().count
            }
            wasHeld = await held.first { true } != nil
            if wasHeld { #expect(try SQLiteCollection(of: engine).allItems().count == 1) }
            executor.release()
            #expect(try await reading.value == 1)
        }
    }
}
