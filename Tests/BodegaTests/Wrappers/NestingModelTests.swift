import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Model tests of nested wrappers around an engine that fails. Set `EMPORIUM_SEED` to repeat a failed run, and
/// `EMPORIUM_NESTINGS` for more nestings than eight.
@Suite(.timeLimit(.minutes(60))) struct NestingModelTests {
    private static let count = ProcessInfo.processInfo.environment["EMPORIUM_NESTINGS"].flatMap { Int($0) } ?? 8

    static let nestings: [FaultyNesting] = {
        print("model test of nestings: EMPORIUM_SEED=\(Seed.current)")
        return FaultyNesting.random(count, seed: Seed.current) { _ in MemoryStorageEngine() }
    }()

    @Test(arguments: nestings)
    func `Nested wrappers and a model agree while the innermost engine fails`(_ nesting: FaultyNesting) async throws {
        try await NestingModelTest(nesting).run(400)
    }

    @Test func `They agree on a database, too`() async throws {
        let folder = TemporaryFolder()
        let nestings = try FaultyNesting.random(2, seed: Seed.current &+ 1) { number in
            try SQLiteStorageEngine(
                openingFile: folder.file("\(number).sqlite3"), durability: .relaxed)
        }
        for nesting in nestings { try await NestingModelTest(nesting).run(200) }
    }
}
