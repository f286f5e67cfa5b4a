import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Boutique

/// When stored values reach the disk, and what a kill or a power failure takes.
@Suite struct StoredValueDurabilityTests {

    /// The disk under a file of values: counts syncs, and runs delayed jobs when the test says so.
    private final class Disk: Sendable {
        private let jobs = Locked<[@Sendable () -> Void]>([])
        let syncs = Record<String>()
        let onSync = Locked(Hook())

        struct Hook: Sendable {
            var run: @Sendable (_ name: String) throws -> Void = { _ in }
        }

        var surroundings: DefaultsFile.Surroundings {
            var surroundings = DefaultsFile.Surroundings()
            surroundings.synchronize = { [self] descriptor, path in
                let name = URL(fileURLWithPath: path).lastPathComponent
                syncs.add(name.hasPrefix("emporium-tests") ? "folder" : name)
                try onSync.withLock { $0 }.run(name)
            }
            surroundings.delay = { [jobs] job in jobs.withLock { $0.append(job) } }
            return surroundings
        }

        var pending: Int { jobs.withLock { $0.count } }

        func runJobs() {
            let all = jobs.withLock { jobs in
                defer { jobs = [] }
                return jobs
            }
            for job in all { job() }
        }
    }

    private struct Failure: Error {}

    private let disk = Disk()

    private func makePlace() -> ValuePlace { ValuePlace(isWatched: false, surroundings: disk.surroundings) }

    /// The file as another process has it, with a disk of its own.
    private func other(_ place: ValuePlace, _ disk: Disk = Disk()) -> DefaultsFile {
        DefaultsFile(url: place.url, isWatched: false, surroundings: disk.surroundings)
    }

    @Test func `Setting a value does not wait for the disk, and many changes are synchronized once`() throws {
        let place = makePlace()
        let value = place.value(0)
        for number in 1...100 { value.set(number) }
        #expect(disk.syncs.elements == [])
        #expect(disk.pending == 1)
        disk.runJobs()
        #expect(disk.syncs.elements == ["suite.values", "folder"])
        #expect(disk.pending == 0)
        // The name of the file is on disk already.
        value.set(101)
        value.set(102)
        disk.runJobs()
        #expect(disk.syncs.elements == ["suite.values", "folder", "suite.values"])
        #expect(place.value(0).wrappedValue == 102)
        #expect(StoredValue(key: "value", default: 0, in: other(place)).wrappedValue == 102)
    }

    @Test func `Waiting for the disk synchronizes what is not on disk yet, and nothing else`() async throws {
        let place = makePlace()
        let value = place.value(0)
        try await value.flush()
        #expect(disk.syncs.elements == [])
        value.set(1)
        try await value.flush()
        #expect(disk.syncs.elements == ["suite.values", "folder"])
        try await place.value("other", 0).flush()
        #expect(disk.syncs.elements.count == 2)
        value.set(2)
        func flushBlocking() throws { try value.flush() }
        try flushBlocking()
        disk.runJobs()
        #expect(disk.syncs.elements == ["suite.values", "folder", "suite.values"])
    }

    @Test func `A change of another process is synchronized, too`() throws {
        let place = makePlace()
        StoredValue(key: "value", default: 0, in: other(place)).set(1)
        // Its process may have been killed.
        #expect(place.value(0).wrappedValue == 1)
        #expect(disk.pending == 1)
        disk.runJobs()
        #expect(disk.syncs.elements == ["suite.values", "folder"])
        // The mark in the file spares the next process the same.
        let next = Disk()
        #expect(StoredValue(key: "value", default: 0, in: other(place, next)).wrappedValue == 1)
        #expect(next.pending == 0)
    }

    @Test func `A failed sync is reported, and the values are written again, because the system may drop them`() throws
    {
        let place = makePlace()
        let value = place.value(0)
        value.set(1)
        disk.onSync.withLock { $0.run = { _ in throw Failure() } }
        #expect(throws: Failure.self) { try place.file.flush() }
        #expect(value.wrappedValue == 1 && value.lastError == nil)
        #expect(try place.folder.names() == ["suite.values"])
        disk.runJobs()
        #expect(disk.pending == 1)
        // What could not be written is gone from the file's next sync, so only a new file has it.
        disk.onSync.withLock { $0.run = { if $0 == "suite.values" { throw Failure() } } }
        let old = try Data(contentsOf: place.url)
        disk.runJobs()
        #expect(disk.pending == 0)
        #expect(disk.syncs.elements.suffix(3) == ["suite.values", "suite.values.new", "folder"])
        #expect(try Data(contentsOf: place.url) != old)
        #expect(StoredValue(key: "value", default: 0, in: other(place)).wrappedValue == 1)
        value.set(2)
        #expect(StoredValue(key: "value", default: 0, in: other(place)).wrappedValue == 2)
    }

    @Test func `After a power failure each value is that of the last sync or a later one`() throws {
        let place = makePlace()
        var ends: [Int] = [0]
        for number in 1...6 {
            place.value(number % 2 == 0 ? "even" : "odd", 0).set(number)
            ends.append(try Data(contentsOf: place.url).count)
            if number == 3 { disk.runJobs() }
        }
        let full = try Data(contentsOf: place.url)
        for cut in ends[3]...full.count {
            for zeros in [0, full.count - cut] {
                let torn = makePlace()
                try (full.prefix(cut) + Data(count: zeros)).write(to: torn.url)
                // The digits of a number are not zero.
                let last = ends.lastIndex { $0 <= cut } ?? 0
                let (even, odd) = (torn.value("even", 0), torn.value("odd", 0))
                #expect(even.wrappedValue == last / 2 * 2 && odd.wrappedValue == (last - 1) / 2 * 2 + 1)
                #expect(even.lastError == nil)
                even.set(100)
                #expect(even.lastError == nil)
                let next = StoredValue(key: "even", default: 0, in: other(torn))
                #expect(next.wrappedValue == 100)
                #expect(StoredValue(key: "odd", default: 0, in: other(torn)).wrappedValue == odd.wrappedValue)
            }
        }
    }

    @Test("A file that ends in an incomplete change is synchronized once, and replaced", arguments: [1, 5, 30])
    func incompleteEnd(missing: Int) throws {
        let place = makePlace()
        place.value("first", 0).set(1)
        place.value("last", 0).set(2)
        let disk = Disk()
        let torn = ValuePlace(isWatched: false, surroundings: disk.surroundings)
        try Data(contentsOf: place.url).dropLast(missing).write(to: torn.url)
        disk.onSync.withLock { $0.run = { _ in if disk.syncs.elements.count > 10 { throw Failure() } } }
        #expect(torn.value("first", 0).wrappedValue == 1)
        try torn.file.flush()
        #expect(disk.syncs.elements == ["suite.values", "folder", "suite.values.new", "folder"])
        disk.runJobs()
        #expect(disk.syncs.elements.count == 4 && disk.pending == 0)
        let next = other(torn)
        #expect(StoredValue(key: "first", default: 0, in: next).wrappedValue == 1)
        #expect(StoredValue(key: "last", default: 0, in: next).wrappedValue == 0)
        #expect(next.content.withLock { !$0.mustBeReplaced && !$0.log.needsSync })
    }

    @Test func `A changed byte of what was on disk is reported, and the file is not changed`() throws {
        let place = makePlace()
        place.value("first", 0).set(1)
        disk.runJobs()
        place.value("last", 0).set(2)
        let whole = try Data(contentsOf: place.url)
        for byte in 0..<40 {
            let damaged = makePlace()
            var bytes = whole
            bytes[byte] ^= 0x20
            try bytes.write(to: damaged.url)
            let value = damaged.value("first", 7)
            #expect(value.wrappedValue == 7)
            value.set(8)
            #expect(value.lastError?.code == .damaged)
            #expect(try Data(contentsOf: damaged.url) == bytes)
        }
    }

    @Test func `A file that consists of replaced changes is replaced, with changes that are made in the meantime`()
        throws
    {
        let place = makePlace()
        let (value, kept) = (place.value(0), place.value("kept", "kept"))
        kept.set("still there")
        for number in 1...3_000 { value.set(number) }
        let size = try Data(contentsOf: place.url).count
        let other = self.other(place)
        let reader = StoredValue(key: "value", default: 0, in: other)
        #expect(reader.wrappedValue == 3_000)
        disk.onSync.withLock { hook in
            hook.run = { name in
                guard name == "suite.values.new" else { return }
                // Another process changes a value, adds one and removes one, and nothing waits for anything.
                reader.set(3_001)
                StoredValue(key: "new", default: "", in: other).set("added")
                try other.exclusively { try other.save(nil, "kept") }
            }
        }
        disk.runJobs()
        #expect(try Data(contentsOf: place.url).count < size / 100)
        #expect(try place.folder.names() == ["suite.values"])
        for file in [place.file, other, self.other(place)] {
            #expect(StoredValue(key: "value", default: 0, in: file).wrappedValue == 3_001)
            #expect(StoredValue(key: "new", default: "", in: file).wrappedValue == "added")
            #expect(StoredValue(key: "kept", default: "removed", in: file).wrappedValue == "removed")
        }
        reader.set(3_002)
        #expect(value.wrappedValue == 3_002)
        value.set(3_003)
        #expect(reader.wrappedValue == 3_003)
        // What was added in the meantime is synchronized as well.
        #expect(disk.pending == 1)
    }

    @Test func `A frozen file is read, and a change is appended to it`() throws {
        let place = makePlace()
        let bytes = try Data(contentsOf: Fixtures.file("emporium-1-values/suite.values"))
        try bytes.write(to: place.url)
        let (theme, last) = (place.value("theme", "none"), place.value("last", [Int]()))
        #expect(theme.wrappedValue == "dark" && last.wrappedValue == [1, 2])
        #expect(place.value("größe 🎨", 0).wrappedValue == 12)
        last.append(3)
        #expect(try Data(contentsOf: place.url).starts(with: bytes))
        #expect(StoredValue(key: "last", default: [Int](), in: other(place)).wrappedValue == [1, 2, 3])
    }

    // MARK: Other processes

    private let home = TemporaryFolder()

    private func child(_ arguments: String...) throws -> Child {
        try Child(["values"] + arguments, environment: ["HOME": home.path, "XDG_DATA_HOME": home.path + "/data"])
    }

    private var file: URL { home.file("data/emporium/defaults/suite.values") }

    @Test func `Values that were set before a kill are stored, and so are all others`() async throws {
        let seed = Seed.current
        print("kill test of stored values: EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        var counts: [Int] = []
        for round in 0..<50 {
            let writer = try child("write-many", "suite", "round\(round)", "1000000")
            var count = 0
            for _ in 0..<Int.random(in: 1...100, using: &random) {
                _ = try #require(await writer.nextLine())
                count += 1
            }
            writer.kill()
            counts.append(count + (await writer.lines().count))
            let storage = DefaultsFile(url: file, isWatched: false)
            for (round, count) in counts.enumerated() {
                for number in 0..<count {
                    let found = try storage.load("round\(round)-\(number)")
                    try #require(found == Data("{\"value\":\"value \(number)\"}".utf8))
                }
            }
        }
    }

    @Test func `Values are on disk when the program has ended`() async throws {
        #expect(await (try child("set", "suite", "key", "value")).lines() == [])
        // The last 32 bytes are the mark that follows a sync.
        #expect(try Data(contentsOf: file).suffix(32).starts(with: Data("\u{2}synced\n".utf8)))
        #expect(await (try child("set-and-die", "suite", "key", "value 2")).lines() == [])
        #expect(try !Data(contentsOf: file).suffix(32).starts(with: Data("\u{2}synced\n".utf8)))
    }
}
