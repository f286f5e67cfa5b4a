import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Another process writes through wrappers that keep state, prints each acknowledged batch, and is killed at random
/// moments.
@Suite struct WrapperKillTests {
    @Test(arguments: WrappedEngine.allCases)
    func `After a kill, nothing acknowledged is lost, limits hold, and a mirror is complete or says that it is not`(
        _ kind: WrappedEngine
    ) async throws {
        print("kill test of wrappers, \(kind): EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        let folder = TemporaryFolder()
        try EncryptionKeyset().json().write(to: folder.file("keyset.json"))
        var (next, incomplete) = (0, 0)
        for _ in 0..<TestSizes.wrapperKills {
            // A single writer leaves the mirror complete after each batch.
            let writers = Int.random(in: 1...2, using: &random)
            let child = try Child("write-wrapped", kind.rawValue, folder.path, "\(next)", "\(writers)")
            var printed: [String] = []
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                printed.append(try #require(await child.nextLine()))
            }
            child.kill()
            // Lines that it printed before it ended count, too.
            printed += await child.lines()
            let acknowledged = (0..<2).map { writer in
                printed.filter { $0.hasPrefix("\(writer) ") }.compactMap { Int($0.dropFirst(2)) }.max()
            }
            let opened = try kind.open(in: folder.url)
            try await verify(kind, opened, acknowledged)
            if try await !verifyMirror(of: opened) { incomplete += 1 }
            next = (acknowledged.compactMap { $0 }.max() ?? next) + 10
            next += next % 2
        }
        if kind == .mirrored || kind == .nested { print("\(kind): \(incomplete) mirrors were incomplete") }
    }

    private func verify(
        _ kind: WrappedEngine, _ opened: WrappedEngine.Opened, _ acknowledged: [Int?]
    ) async throws {
        if kind.isLimited {
            // Before the first call of the engine, which would enforce the limits.
            let stored = try await opened.base.fetchAllData()
            #expect(stored.count <= WrappedEngine.limit.count)
            #expect(stored.reduce(0) { $0 + $1.count - kind.overhead } <= WrappedEngine.limit.bytes)
        }
        let items = try await opened.engine.fetchAll()
        let found = Dictionary(items.map { ($0.key, $0.data) }) { $1 }
        for (writer, last) in acknowledged.enumerated() {
            guard let last else { continue }
            // The batch after the acknowledged one may have been applied, too.
            let batch = WrappedEngine.keys(ofWriter: writer).compactMap { found[$0] }
            let number = [last, last + 1].first { number in batch.allSatisfy { $0 == WrappedEngine.data(number) } }
            #expect(number != nil, "writer \(writer): lost or half applied after \(last): \(batch)")
            // Items of the other writer may have evicted some.
            guard let number, !kind.isLimited else { continue }
            #expect(batch.count == 3)
            #expect(found[CacheKey(verbatim: "new \(writer) \(number)")] == WrappedEngine.data(number))
            if number.isMultiple(of: 2) { #expect(found[CacheKey(verbatim: "new \(writer) \(number - 2)")] == nil) }
        }
        #expect(await opened.engine.keyCount() == items.count)
    }

    /// Compares a mirror with its base, before and after a repair. Returns whether it was complete.
    private func verifyMirror(of opened: WrappedEngine.Opened) async throws -> Bool {
        guard let original = opened.original, let mirror = opened.mirror, let repair = opened.repair else {
            return true
        }
        let mark = CacheKey(verbatim: "emporium.mirror")
        func differences() async throws -> Int {
            let written = Dictionary(try await original.fetchAll().map { ($0.key, $0.data) }) { $1 }
            var copied = Dictionary(try await mirror.fetchAll().map { ($0.key, $0.data) }) { $1 }
            copied[mark] = nil
            return Set(written.keys).union(copied.keys).count { written[$0] != copied[$0] }
        }
        let before = try await differences()
        let isComplete = try await mirror.fetch(key: mark) == Data("complete".utf8)
        if isComplete { #expect(before == 0) }
        #expect(try await repair() == before)
        #expect(try await differences() == 0)
        return isComplete
    }
}
