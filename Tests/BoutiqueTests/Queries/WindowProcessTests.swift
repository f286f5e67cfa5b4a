import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega
@testable import Boutique

private struct Chore: Codable, Sendable, Equatable, Queryable {
    var id: Int
    var title: String
    var rank: Int?
    var isDone: Bool

    static let indexes = [Index("rank", \Chore.rank), Index("isDone", \Chore.isDone).then("rank", \Chore.rank)]

    var key: CacheKey { CacheKey("chore-\(id)") }
    var decade: Int? { rank.map { $0 / 10 } }
}

/// A window with what it has to show: `filter` and `sorted` over the chores of the file.
@MainActor
private struct Shown {
    let name: String
    let window: LiveQuery<Chore>
    let isMember: (Chore) -> Bool
    /// Whether a chore comes before another one; those that are equal come in the order of the file.
    let isBefore: (Chore, Chore) -> Bool

    func expected(of chores: [Chore]) -> [Chore] {
        let sorted = chores.enumerated().filter { isMember($0.element) }.sorted { left, right in
            if isBefore(left.element, right.element) { return true }
            return !isBefore(right.element, left.element) && left.offset < right.offset
        }
        return sorted.prefix(window.limit).map(\.element)
    }

    func isRight(_ chores: [Chore]) -> Bool {
        let all = chores.filter(isMember).count
        guard window.items == expected(of: chores), window.hasMore == (all > window.limit) else { return false }
        guard let sectioned = window as? SectionedLiveQuery<Int?, Chore> else { return true }
        let groups = Dictionary(grouping: window.items, by: \.decade)
        var order: [Int?] = []
        for chore in window.items where !order.contains(chore.decade) { order.append(chore.decade) }
        return sectioned.sections.map(\.value) == order
            && sectioned.sections.map(\.items) == order.map { groups[$0] ?? [] }
    }
}

/// Another process writes random batches to the file of several windows. It is stopped and killed at random moments, at
/// which the windows show what SQLite's own program reads in the file.
@MainActor
@Suite("Windows beside a process that is stopped and killed", .unhurriedReads)
struct WindowProcessTests {
    private let folder = TemporaryFolder()

    private static func comesFirst(_ left: Int?, _ right: Int?, isDescending: Bool = false) -> Bool {
        guard let left, let right else { return left != nil && right == nil }
        return isDescending ? left > right : left < right
    }

    /// The windows, in several orders.
    private func windows(over chores: ObjectStorage<Chore>) -> [Shown] {
        let byRank = Query<Chore>(sortedBy: SortDescriptor(\.rank))
        return [
            Shown(
                name: "by rank", window: LiveQuery(byRank, in: chores, limit: 10), isMember: { _ in true },
                isBefore: { Self.comesFirst($0.rank, $1.rank) }),
            Shown(
                name: "open ones by descending rank",
                window: LiveQuery(
                    Query(where: #Predicate { !$0.isDone }, sortedBy: SortDescriptor(\.rank, order: .reverse)),
                    in: chores, limit: 15),
                isMember: { !$0.isDone }, isBefore: { Self.comesFirst($0.rank, $1.rank, isDescending: true) }),
            Shown(
                name: "done ones of a range",
                window: LiveQuery(
                    Query(
                        where: #Predicate { $0.isDone && $0.rank ?? 0 >= 10 && $0.rank ?? 0 < 40 },
                        sortedBy: SortDescriptor(\.title), SortDescriptor(\.rank)),
                    in: chores, limit: 12),
                isMember: { $0.isDone && (10..<40).contains($0.rank ?? 0) },
                isBefore: { $0.title == $1.title ? Self.comesFirst($0.rank, $1.rank) : $0.title < $1.title }),
            Shown(
                name: "in insertion order", window: LiveQuery(Query<Chore>(), in: chores, limit: 8),
                isMember: { _ in true }, isBefore: { _, _ in false }),
            Shown(
                name: "sections", window: SectionedLiveQuery(byRank, in: chores, limit: 30, sectionedBy: \.decade),
                isMember: { _ in true }, isBefore: { Self.comesFirst($0.rank, $1.rank) }),
        ]
    }

    /// The chores in the file, in insertion order, by `sqlite3` and Foundation.
    ///
    /// - Parameter stopped: The process that is stopped, if any. If it is stopped while it writes the header of the
    ///   WAL's index, the file can't be read; then the process goes on and is stopped again.
    private func stored(beside stopped: Child?) async throws -> [Chore] {
        while true {
            if let chores = try await readable() { return chores }
            let stopped = try #require(stopped, "the file can't be read beside no other process")
            ProcessSignal.resume.send(to: stopped.processIdentifier)
            while try await readable() == nil {}
            ProcessSignal.stop.send(to: stopped.processIdentifier)
        }
    }

    /// - Returns: `nil` if SQLite reports a failure of the protocol for locks.
    private func readable() async throws -> [Chore]? {
        let process = Process()
        let output = Pipe.separate()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "sqlite3", "-readonly", "-cmd", ".timeout 60000", folder.file("data.sqlite3").path,
            "SELECT CAST(value AS TEXT) FROM data ORDER BY rowid",
        ]
        process.standardOutput = output
        try process.start()
        let text = await process.output(output)
        // The exit status is SQLite's result code, here SQLITE_PROTOCOL.
        if process.terminationStatus == 15 { return nil }
        try #require(process.terminationStatus == 0)
        return try text.split(separator: UInt8(ascii: "\n")).map { try JSONDecoder().decode(Chore.self, from: $0) }
    }

    @Test("At each stop and after each kill, all windows show what is in the file")
    func stopsAndKills() async throws {
        let seed = Seed.current
        print("windows beside a process: EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 40...400, using: &random)
        let chores = ObjectStorage<Chore>(storage: try SQLiteStorageEngine(opening: folder.directory))
        try await chores.createIndexes()
        let windows = windows(over: chores)
        for shown in windows { try await shown.window.itemsHaveLoaded() }
        var (child, acknowledged, stops, kills): (Child?, Int, Int, Int) = (nil, 0, 0, 0)
        defer { child?.kill() }
        for round in 0..<TestSizes.windowFaults {
            let running =
                try child
                ?? Child("write-chores", folder.path, "\(random.next())", "\(acknowledged + 1_000)", "\(count)")
            child = running
            for _ in 0..<Int.random(in: 1...30, using: &random) {
                let line = try #require(await running.nextLine())
                acknowledged = try #require(Int(line))
            }
            if Int.random(in: 0..<4, using: &random) == 0 {
                try await windows.randomElement(using: &random)!.window.loadMore(Int.random(in: 1...3, using: &random))
            }
            let isKilled = Int.random(in: 0..<3, using: &random) == 0
            if isKilled {
                running.kill()
                acknowledged = await running.lines().last.flatMap { Int($0) } ?? acknowledged
                child = nil
                kills += 1
            } else {
                ProcessSignal.stop.send(to: running.processIdentifier)
                stops += 1
            }
            try await expectRight(
                windows, acknowledged, beside: isKilled ? nil : running,
                "seed \(seed), round \(round), killed: \(isKilled)")
            if isKilled, Bool.random(using: &random) {
                // The file is free for this process, too.
                let changed = (0..<5).map { _ in
                    Chore(
                        id: Int.random(in: 0..<count, using: &random), title: "own",
                        rank: Int.random(in: 0..<60, using: &random), isDone: Bool.random(using: &random))
                }
                try await chores.store(changed.map { ($0.key, $0) })
                try await expectRight(
                    windows, acknowledged, beside: nil, "seed \(seed), round \(round), own changes")
            }
            if !isKilled {
                // A stopped process may be killed, too, also while it holds the lock.
                if Int.random(in: 0..<5, using: &random) == 0 {
                    running.kill()
                    _ = await running.lines()
                    child = nil
                } else {
                    ProcessSignal.resume.send(to: running.processIdentifier)
                }
            }
        }
        print("\(count) chores, \(acknowledged) batches, \(stops) stops, \(kills) kills")
    }

    @Test("A window whose read fails beside a stopped process shows the items when the process goes on")
    func tornIndex() async throws {
        let chores = ObjectStorage<Chore>(storage: try SQLiteStorageEngine(opening: folder.directory))
        let window = LiveQuery(Query(sortedBy: SortDescriptor(\Chore.rank)), in: chores, limit: 5)
        try await window.itemsHaveLoaded()
        #expect(window.items == [])
        let chore = Chore(id: 1, title: "a", rank: 1, isDone: false)
        let input = Pipe.separate()
        let json = String(decoding: try JSONEncoder().encode(chore), as: UTF8.self)
        let child = try Child(["tear-wal-index", folder.path, chore.key.rawValue, json], input: input)
        #expect(await child.nextLine() == "torn")
        await #expect { try await chores.count(Query()) } throws: { ($0 as? StorageError)?.code == .locked }
        try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        #expect(await child.nextLine() == "whole")
        #expect(try await eventually { window.items == [chore] })
        try input.fileHandleForWriting.close()
        _ = await child.lines()
    }

    private func expectRight(
        _ windows: [Shown], _ acknowledged: Int, beside stopped: Child?, _ comment: String
    ) async throws {
        // A signal stops a process a moment later, so the file may be read again.
        var chores = try await stored(beside: stopped)
        for shown in windows {
            let isRight = try await eventually {
                if shown.isRight(chores) { return true }
                chores = try await stored(beside: stopped)
                return shown.isRight(chores)
            }
            try #require(
                isRight,
                """
                \(comment), \(shown.name): \(shown.window.items.map { "\($0.id) \($0.rank ?? -1)" }), not \
                \(shown.expected(of: chores).map { "\($0.id) \($0.rank ?? -1)" })
                """)
        }
        let last = try #require(chores.first { $0.id == 1000 }?.rank, "\(comment): all batches are lost")
        #expect(last >= acknowledged, "\(comment): a batch is lost")
    }
}
