import Bodega
import BodegaTesting
import Foundation
import Logging
import TestSupport

/// A nesting of wrappers with small limits, around an engine with random faults.
struct FaultyNesting: Sendable, CustomStringConvertible {
    enum Layer: String, CaseIterable {
        case logged, prefixed, encrypted, retrying, cached, limited, expiring, mirrored

        /// The bytes that the wrapper adds to each item.
        var overhead: Int {
            switch self {
            case .encrypted: 33
            case .expiring: 12
            case .logged, .prefixed, .retrying, .cached, .limited, .mirrored: 0
            }
        }
    }

    /// How the mirror loses items on its own.
    enum MirrorLoss: String, CaseIterable { case none, limited, expiring }

    typealias Repair = @Sendable (_ comparingAll: Bool) async throws -> Int

    static let limit = (count: 6, bytes: 500)

    /// The wrappers, the innermost first. At most one of them is limited or mirrored.
    let layers: [Layer]
    let seed: UInt64
    /// Whether the mirror fails, too.
    let mirrorFails: Bool
    let mirrorLoss: MirrorLoss
    let mirrorReading: MirrorReading
    let raw: any StorageBackend
    let mirror = MemoryStorageEngine()
    let faults: RandomFaults
    let mirrorFaults: RandomFaults
    let pauses = InstantClock()
    let clock = ManualClock()

    init(
        _ layers: [Layer], over raw: any StorageBackend = MemoryStorageEngine(), seed: UInt64,
        mirrorFails: Bool = false,
        mirrorLoss: MirrorLoss = .none, mirrorReading: MirrorReading = .whenBaseFails
    ) {
        (self.layers, self.raw, self.seed, self.mirrorFails) = (layers, raw, seed, mirrorFails)
        (self.mirrorLoss, self.mirrorReading) = (mirrorLoss, mirrorReading)
        (faults, mirrorFaults) = (RandomFaults(seed: seed), RandomFaults(seed: seed &+ 1))
    }

    var description: String {
        layers.map(\.rawValue).joined(separator: ", ") + (mirrorFails ? ", failing mirror" : "")
            + (isMirrored ? ", mirror \(mirrorReading), loss \(mirrorLoss)" : "") + ", seed \(seed)"
    }

    /// Whether items are evicted.
    var isLimited: Bool { layers.contains(.limited) }

    var isMirrored: Bool { layers.contains(.mirrored) }

    /// The bytes that an item takes for the limited wrapper, and in the innermost engine, in addition to its own.
    var overheads: (limited: Int, raw: Int) {
        let outer = layers.firstIndex(of: .limited).map { layers[$0...] } ?? []
        return (outer.reduce(0) { $0 + $1.overhead }, layers.reduce(0) { $0 + $1.overhead })
    }

    /// Opens the wrappers.
    ///
    /// - Parameter count: The number of wrappers, from the innermost one.
    func open(withFaults: Bool = true, count: Int? = nil) -> (engine: any StorageBackend, repair: Repair?) {
        // A nesting without faults is compared with the model, so it reads the base.
        let reading: MirrorReading = withFaults ? mirrorReading : .whenBaseFails
        let mirror = withFaults ? lossy(RandomlyFailingEngine(base: self.mirror, faults: mirrorFaults)) : lossyMirror
        var (engine, repair): (any StorageBackend, Repair?) = (raw, nil)
        if withFaults { engine = RandomlyFailingEngine(base: engine, faults: faults) }
        for layer in layers.prefix(count ?? layers.count) {
            func wrap(_ base: some StorageBackend) -> any StorageBackend {
                switch layer {
                case .logged:
                    return base.logged(by: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }, level: .trace)
                case .prefixed: return base.prefixed("a/%é")
                case .encrypted: return base.encrypted(with: Keysets.keyset)
                case .retrying: return base.retrying(clock: pauses)
                case .cached: return base.cached(count: 5, bytes: 1_800)
                case .limited: return base.limited(count: Self.limit.count, bytes: Self.limit.bytes)
                case .expiring: return base.expiring(after: .seconds(10), now: clock.now)
                case .mirrored:
                    let engine = base.mirrored(to: mirror, readingMirror: reading, clock: pauses)
                    repair = { try await engine.repair(comparingAll: $0) }
                    return engine
                }
            }
            engine = wrap(engine)
        }
        return (engine, repair)
    }

    /// The mirror as it is read, which may have lost items.
    var lossyMirror: any StorageBackend { lossy(mirror) }

    private func lossy(_ mirror: some StorageBackend) -> any StorageBackend {
        switch mirrorLoss {
        case .none: mirror
        case .limited: mirror.limited(count: 4, bytes: 300)
        case .expiring: mirror.expiring(after: .seconds(4), now: clock.now)
        }
    }

    /// Returns random nestings.
    static func random(_ count: Int, seed: UInt64, _ makeRaw: (Int) throws -> any StorageBackend) rethrows
        -> [FaultyNesting]
    {
        var generator = SeededGenerator(seed: seed)
        return try (0..<count).map { number in
            var layers = Array(Layer.allCases.shuffled(using: &generator).prefix(3))
            // Each run tests the wrappers that keep state most.
            let keeping: [Layer] = [.cached, .limited, .expiring, .mirrored]
            let kept = keeping[number % keeping.count]
            if !layers.contains(kept) { layers.insert(kept, at: Int.random(in: 0...3, using: &generator)) }
            // Expiry comes after the wrappers that keep items of their own, as its documentation says.
            if let expiring = layers.firstIndex(of: .expiring),
                let last = layers.lastIndex(where: { $0 == .cached || $0 == .mirrored }), last > expiring
            {
                layers.insert(layers.remove(at: expiring), at: last)
            }
            // Each second mirror loses items, and each second one is read first, in all combinations.
            let loss = number % 8 < 4 ? MirrorLoss.none : [.limited, .expiring].randomElement(using: &generator)
            return FaultyNesting(
                layers, over: try makeRaw(number), seed: generator.next(), mirrorFails: number % 2 == 1,
                mirrorLoss: loss ?? .none, mirrorReading: Bool.random(using: &generator) ? .first : .whenBaseFails)
        }
    }
}
