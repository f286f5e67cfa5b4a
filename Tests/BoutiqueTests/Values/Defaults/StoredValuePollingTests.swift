import Bodega
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Boutique

/// Streams of values where the system does not report changes of the file.
@Suite struct StoredValuePollingTests {

    /// A timer that fires when the test says so.
    private final class Timer: FileWatchTimer {
        private let fire: @Sendable () -> Void
        private let queue: DispatchQueue
        let pauses = Locked<[Int?]>([])

        init(_ queue: DispatchQueue, _ fire: @escaping @Sendable () -> Void) { (self.queue, self.fire) = (queue, fire) }

        func schedule(after milliseconds: Int?) { pauses.withLock { $0.append(milliseconds) } }
        func cancel() {}
        func end() { queue.sync(execute: fire) }
    }

    private let timers = Locked<[Timer]>([])

    private func surroundings(hasEvents: Bool) -> DefaultsFile.Surroundings {
        var surroundings = DefaultsFile.Surroundings()
        if !hasEvents {
            surroundings.watch.makeEvents = { path, _, _, _ in throw StorageError.system(ENOSPC, path, "watched") }
        }
        surroundings.watch.makeTimer = { [timers] queue, fire in
            let timer = Timer(queue, fire)
            timers.withLock { $0.append(timer) }
            return timer
        }
        return surroundings
    }

    private func endPauses() { for timer in timers.withLock({ $0 }) { timer.end() } }

    private func set(_ number: Int, in file: DefaultsFile) throws {
        try file.exclusively { try file.save(Data(#"{"value":\#(number)}"#.utf8), "value") }
    }

    @Test func `The file is read again after a pause if it can't be watched`() async throws {
        let place = ValuePlace(surroundings: surroundings(hasEvents: false))
        var values = place.value(0).values.makeAsyncIterator()
        #expect(await values.next() == 0)
        for number in 1...3 {
            try set(number, in: place.other())
            endPauses()
            #expect(await values.next() == number)
        }
        // The pauses go on.
        #expect(timers.withLock { $0.count == 1 && $0[0].pauses.withLock { $0.count >= 4 && !$0.contains(nil) } })
    }

    @Test("A folder that was removed, and created again, is noticed", arguments: [true, false])
    func removedFolder(isReplaced: Bool) async throws {
        let place = ValuePlace(name: "settings/suite.values", surroundings: surroundings(hasEvents: true))
        let value = place.value(0)
        value.set(1)
        var values = value.values.makeAsyncIterator()
        #expect(await values.next() == 1)
        let folder = place.url.deletingLastPathComponent()
        if isReplaced {
            try FileManager.default.moveItem(at: folder, to: place.folder.file("moved"))
        } else {
            try FileManager.default.removeItem(at: folder)
        }
        endPauses()
        #expect(await values.next() == 0)
        for number in 2...3 {
            try set(number, in: place.other())
            endPauses()
            #expect(await values.next() == number)
        }
    }

    @Test func `Nothing is read after a pause in which the file has not changed`() async throws {
        let place = ValuePlace(surroundings: surroundings(hasEvents: false))
        let checks = Locked(0)
        let observation = place.file.observe("value") { _ in checks.withLock { $0 += 1 } }
        for _ in 0..<20 { endPauses() }
        // What was queued before has run then.
        await withCheckedContinuation { continuation in foreignChangeQueue.async { continuation.resume() } }
        #expect(checks.withLock { $0 } == 1)
        withExtendedLifetime(observation) {}
    }

    @Test func `A change of one value is no reason to check all others`() async throws {
        let place = ValuePlace(surroundings: surroundings(hasEvents: false))
        let checks = Locked<[String]>([])
        let observations = ["value", "other"].map { name in
            place.file.observe(name) { _ in checks.withLock { $0.append(name) } }
        }
        func checked(after number: Int) async throws -> [String] {
            try set(number, in: place.other())
            endPauses()
            await withCheckedContinuation { continuation in foreignChangeQueue.async { continuation.resume() } }
            return checks.withLock { checks in
                defer { checks = [] }
                return checks.sorted()
            }
        }
        // A file that is new is read from its beginning.
        #expect(try await Set(checked(after: 1)) == ["other", "value"])
        #expect(try await checked(after: 2) == ["value"])
        #expect(try await checked(after: 3) == ["value"])
        withExtendedLifetime(observations) {}
    }
}
