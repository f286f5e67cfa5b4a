import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Model tests of nested wrappers around an engine that fails. Set `EMPORIUM_SEED` to repeat a failed run.
@Suite struct NestingModelTests {
    static let nestings: [FaultyNesting] = {
        print("model test of nestings: EMPORIUM_SEED=\(Seed.current)")
        return FaultyNesting.random(TestSizes.nestings, seed: Seed.current) { _ in MemoryStorageEngine() }
    }()

    @Test(arguments: nestings)
    func `Nested wrappers and a model agree while the innermost engine fails`(_ nesting: FaultyNesting) async throws {
        try await NestingModelTest(nesting).run(400)
    }

    /// A mirror that loses items, in each position among the others.
    @Test(
        arguments: FaultyNesting.MirrorLoss.allCases,
        [
            [.mirrored], [.limited, .mirrored], [.mirrored, .limited], [.cached, .mirrored], [.mirrored, .cached],
            [.encrypted, .mirrored, .prefixed, .expiring], [.limited, .mirrored, .cached, .expiring],
        ] as [[FaultyNesting.Layer]])
    func `They agree with a mirror that is read first`(
        _ loss: FaultyNesting.MirrorLoss, _ layers: [FaultyNesting.Layer]
    ) async throws {
        for mirrorFails in [false, true] {
            let nesting = FaultyNesting(
                layers, seed: Seed.current, mirrorFails: mirrorFails, mirrorLoss: loss, mirrorReading: .first)
            try await NestingModelTest(nesting).run(150)
        }
    }

    /// Seeds that found defects.
    @Test(arguments: [
        FaultyNesting([.encrypted, .mirrored, .expiring, .limited], seed: 9_176_182_319_690_177_040),
        FaultyNesting([.cached, .encrypted, .mirrored], seed: 10_605_406_421_881_730_805),
        FaultyNesting([.prefixed, .mirrored, .logged, .expiring], seed: 16_696_776_296_144_038_032, mirrorFails: true),
        FaultyNesting(
            [.encrypted, .cached, .mirrored, .expiring], seed: 10_751_525_512_690_302_514, mirrorReading: .first),
        FaultyNesting(
            [.mirrored, .cached, .retrying, .prefixed], seed: 16_919_071_816_980_728_009, mirrorReading: .first),
        FaultyNesting(
            [.limited, .mirrored, .cached, .encrypted], seed: 13_555_537_608_273_196_725, mirrorFails: true,
            mirrorReading: .first),
        FaultyNesting(
            [.mirrored, .limited, .expiring, .prefixed], seed: 15_533_183_445_193_131_727, mirrorFails: true),
        FaultyNesting(
            [.retrying, .encrypted, .mirrored, .expiring], seed: 2_053_759_713_063_227_430, mirrorFails: true,
            mirrorLoss: .limited, mirrorReading: .first),
        FaultyNesting([.limited, .retrying, .cached, .logged], seed: 7_305_568_107_799_221_413, mirrorFails: true),
        FaultyNesting(
            [.logged, .prefixed, .mirrored, .encrypted], seed: 12_070_404_354_177_269_062, mirrorFails: true),
        FaultyNesting(
            [.limited, .mirrored], seed: 3_441_161_819_322_316_593, mirrorLoss: .expiring, mirrorReading: .first),
        FaultyNesting(
            [.limited, .mirrored], seed: 9_539_021_951_418_685_156, mirrorFails: true, mirrorReading: .first),
        FaultyNesting(
            [.limited, .mirrored], seed: 9_370_285_477_137_922_093, mirrorFails: true, mirrorLoss: .expiring,
            mirrorReading: .first),
        FaultyNesting(
            [.limited, .cached, .mirrored, .prefixed], seed: 11_858_006_954_767_659_803, mirrorReading: .first),
    ])
    func `They agree with seeds that have failed`(_ nesting: FaultyNesting) async throws {
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
