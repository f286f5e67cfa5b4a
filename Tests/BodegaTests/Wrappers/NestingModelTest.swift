import Bodega
import BodegaTesting
import Foundation
import TestSupport

/// Random calls of a nesting of wrappers whose innermost engine fails at random, compared with a model.
///
/// 1. A write that fails has changed nothing, unless the innermost engine has applied it before it failed.
/// 2. A read fails, or returns what the model has. A mirror may lack the writes that have failed since the last one
///    that succeeded.
/// 3. After each step, the limits hold in the innermost engine, and a fresh nesting without faults has the items of the
///    model.
/// 4. When the faults end, the used nesting has them, too, and a repair makes the mirror equal.
actor NestingModelTest {
    struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    private typealias Items = NestingModel

    private let nesting: FaultyNesting
    private let keys = (0..<12).map { $0 % 2 == 0 ? CacheKey("\($0)") : CacheKey(verbatim: "\($0)") }
    private var generator: SeededGenerator
    private var engine: any StorageBackend
    private var repair: FaultyNesting.Repair?
    private var model: NestingModel
    /// What a mirror may have: the states since the last write that succeeded.
    private var earlier: [NestingModel] = []
    private var step = ""
    /// The reads during a write that stalled. Each ends soon after the write, and before another process takes over.
    private let readers = Locked<[Task<Void, Never>]>([])

    init(_ nesting: FaultyNesting) {
        self.nesting = nesting
        generator = SeededGenerator(seed: nesting.seed)
        model = NestingModel(nesting)
        (engine, repair) = nesting.open()
    }

    /// Runs a number of steps, in which faults come and go.
    func run(_ steps: Int) async throws {
        for number in 0..<steps {
            if number % 25 == 0 {
                nesting.faults.percent = [0, 10, 30, 60].randomElement(using: &generator) ?? 0
                nesting.mirrorFaults.percent = nesting.mirrorFails ? Int.random(in: 0...40, using: &generator) : 0
            }
            do {
                try await perform()
                try await compareFresh()
                if number % 25 == 24 { try await endFaults() }
            } catch let difference as Difference {
                throw Difference(description: "\(nesting), step \(number), \(step): \(difference)")
            }
        }
    }

    // MARK: Steps

    private func perform() async throws {
        if !nesting.isLimited { nesting.clock.advance(by: Double(Int.random(in: 0...3, using: &generator))) }
        nesting.pauses.advance(by: .seconds(Int.random(in: 0...4, using: &generator)))
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<15:
            let (key, data) = (key(), data())
            try await write([.write(key: key, data: data)], "write") { try await $0.write(data, key: key) }
        case 15..<25:
            let items = many { ($0.key(), $0.data()) }
            try await write(items.map { .write(key: $0.0, data: $0.1) }, "write") { engine in
                try await engine.write(items.map { (key: $0.0, data: $0.1) })
            }
        case 25..<32:
            let key = key()
            try await write([.remove(key: key)], "remove") { try await $0.remove(key: key) }
        case 32..<37:
            let keys = many { $0.key() }
            try await write(keys.map { .remove(key: $0) }, "remove") { try await $0.remove(keys: keys) }
        case 37..<39: try await write([.removeAll], "removeAllData") { try await $0.removeAllData() }
        case 39..<55:
            let operations = many { $0.operation() }
            try await write(operations, "apply") { try await $0.apply(operations) }
        case 55..<65: try await applyIf()
        case 65..<80:
            let key = key()
            try await read("fetch(key:)") {
                try await $0.fetch(key: key)
            } of: {
                $0[key]
            }
        case 80..<85:
            let keys = many { $0.key() }
            try await read("fetch(keys:)") { engine in
                try await engine.fetch(keys: keys).map { [$0.key.value: $0.data] }
            } of: { items in
                keys.compactMap { key in items[key].map { [key.value: $0] } }
            }
        case 85..<90:
            try await read("fetchAll") {
                Set(try await $0.fetchAll().map(Item.init))
            } of: {
                Set($0.visible)
            }
        case 90..<93:
            try await read("fetchKeys") {
                Set(try await $0.fetchKeys())
            } of: {
                Set($0.visible.map(\.key))
            }
        case 93..<96:
            try await read("fetchCount") {
                try await $0.fetchCount()
            } of: {
                $0.visible.count
            }
        case 96..<99:
            let keys = keys
            try await read("fetchKeys(among:)") {
                try await $0.fetchKeys(among: keys)
            } of: { items in
                keys.filter { items[$0] != nil }
            }
        default:
            // A process that uses the nesting again later.
            (engine, repair) = nesting.open()
            step = "reopen"
            let (repair, mirrorFails) = (repair, nesting.mirrorFails)
            // A mirror that could not be marked does not know what it lacks.
            await Task {
                await RandomFaults.$areSuspended.withValue(mirrorFails) { _ = try? await repair?(mirrorFails) }
            }.value
            // Until it is repaired, a mirror may lack a write that has failed, in spite of later ones.
            _ = try await RandomFaults.$areSuspended.withValue(true) { try await repair?(false) }
        }
    }

    private func write(
        _ operations: [StorageOperation], _ name: String,
        _ body: @escaping @Sendable (any StorageBackend) async throws -> Void
    ) async throws {
        step = "\(name) \(operations)"
        var after = model
        let isAllowed = after.apply(operations)
        try await change(to: after, hasOperations: !operations.isEmpty) { [isAllowed] engine in
            do {
                try await body(engine)
            } catch let error as StorageError where error.code == .tooLarge && !isAllowed {
                return false
            }
            if !isAllowed { throw Difference(description: "a call that exceeds a limit alone has succeeded") }
            return true
        }
    }

    private func applyIf() async throws {
        let operations = many { $0.operation() }
        let conditions = (0..<Int.random(in: 1...2, using: &generator)).map { _ in
            let key = key()
            let isMet = Int.random(in: 0..<4, using: &generator) > 0
            return StorageCondition(key: key, data: isMet ? model[key] : Data("other".utf8))
        }
        step = "apply \(operations) if \(conditions)"
        let isMet = conditions.allSatisfy { model[$0.key] == $0.data }
        var after = model
        guard after.apply(operations) else { return }
        if !isMet { after = model }
        try await change(to: after, hasOperations: isMet && !operations.isEmpty) { engine in
            let wasApplied = try await engine.apply(operations, if: conditions)
            if wasApplied != isMet { throw Difference(description: "the conditions are \(isMet ? "" : "not ")met") }
            return wasApplied
        }
    }

    /// Performs a write.
    ///
    /// - Parameters:
    ///   - after: The state after it.
    ///   - body: Performs it, and returns whether it was applied.
    private func change(
        to after: NestingModel, hasOperations: Bool,
        _ body: @escaping @Sendable (any StorageBackend) async throws -> Bool
    ) async throws {
        let before = model
        // A write that succeeds clears the list, but a read while it stalls may still find one of these.
        let allowed = [before, after] + earlier
        let observed = observeWhileStalled()
        let (result, engine) = (Locked<Result<Bool, any Error>>(.success(false)), engine)
        await Task {
            do {
                let wasApplied = try await body(engine)
                result.withLock { $0 = .success(wasApplied) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
        }.value
        for reader in readers.withLock({ $0 }) { await reader.value }
        readers.withLock { $0 = [] }
        switch result.withLock({ $0 }) {
        case .success(true):
            model = after
            if hasOperations && nesting.faults.wasApplied { earlier = [] }
        case .success(false): break
        case .failure(let difference as Difference): throw difference
        case .failure(let error):
            try require(error is StorageError || error is CancellationError, "an unknown error \(error)")
            earlier.append(before)
            if nesting.faults.wasApplied { model = after }
        }
        for (key, data) in observed.withLock({ $0 }) {
            try require(allowed.contains { $0[key] == data }, "read \(described(data)) of \(key) during a write")
        }
    }

    /// Reads an item while a call of the step stalls. Returns what was read.
    private func observeWhileStalled() -> Locked<[(CacheKey, Data?)]> {
        let observed = Locked<[(CacheKey, Data?)]>([])
        let (key, engine, readers) = (key(), engine, readers)
        nesting.faults.begin {
            // A read may wait for the write, so the write does not wait for it.
            let reader = Task {
                await RandomFaults.$areSuspended.withValue(true) {
                    guard let data = try? await engine.fetch(key: key) else { return }
                    observed.withLock { $0.append((key, data)) }
                }
            }
            readers.withLock { $0.append(reader) }
            for _ in 0..<20 { await Task.yield() }
            reader.cancel()
        }
        return observed
    }

    private func read<Value: Equatable & Sendable>(
        _ name: String, _ body: @escaping @Sendable (any StorageBackend) async throws -> Value,
        of expected: (NestingModel) -> Value
    ) async throws {
        step = name
        nesting.faults.begin {}
        let (engine, value) = (engine, Locked<Value?>(nil))
        await Task {
            do {
                let found = try await body(engine)
                value.withLock { $0 = found }
            } catch {}
        }.value
        guard let found = value.withLock({ $0 }) else { return }
        let states = nesting.isMirrored ? [model] + earlier : [model]
        try require(states.map(expected).contains(found), "read \(found) instead of \(expected(model))")
    }

    // MARK: Comparing

    private func compareFresh() async throws {
        let stored = try await nesting.raw.fetchAll()
        if nesting.isLimited {
            let added = nesting.overheads.raw - nesting.overheads.limited
            let bytes = stored.reduce(0) { $0 + $1.data.count - added }
            try require(stored.count <= FaultyNesting.limit.count, "\(stored.count) items")
            try require(bytes <= FaultyNesting.limit.bytes, "\(bytes) bytes")
        }
        let items = try await nesting.open(withFaults: false).engine.fetchAll().map(Item.init)
        try require(isEqual(items), "a fresh engine has \(items) instead of \(model.visible)")
    }

    private func endFaults() async throws {
        (nesting.faults.percent, nesting.mirrorFaults.percent) = (0, 0)
        nesting.pauses.advance(by: .seconds(10))
        step = "the end of faults"
        let key = keys[0]
        try await write([.write(key: key, data: Data([1]))], "write") { try await $0.write(Data([1]), key: key) }
        let items = try await engine.fetchAll().map(Item.init)
        try require(isEqual(items), "the engine has \(items) instead of \(model.visible)")
        for key in keys {
            let data = try await engine.fetch(key: key)
            try require(data == model[key], "read \(described(data)) of \(key) instead of \(described(model[key]))")
        }
        guard let place = nesting.layers.firstIndex(of: .mirrored) else { return }
        _ = try await repair?(false)
        let written = Set(try await nesting.open(withFaults: false, count: place).engine.fetchAll().map(Item.init))
        var copied = Set(try await nesting.lossyMirror.fetchAll().map(Item.init))
        func mark(_ text: String) -> Item { Item((CacheKey(verbatim: "emporium.mirror"), Data(text.utf8))) }
        let isComplete = copied.remove(mark("complete")) != nil
        if nesting.mirrorLoss != .none, !isComplete {
            try require(copied.remove(mark("partial")) != nil, "the mirror is neither complete nor partial")
            return try require(copied.isSubset(of: written), "the mirror has \(copied), which is not in \(written)")
        }
        try require(isComplete, "the mirror is not complete")
        try require(written == copied, "the mirror has \(copied) instead of \(written)")
    }

    /// Compares items with the model. An item that has expired keeps its place, also if it is removed while it is
    /// hidden. A mirror has an order of its own.
    private func isEqual(_ items: [Item]) -> Bool {
        let isOrdered =
            !nesting.layers.contains(.expiring) && !(nesting.isMirrored && nesting.mirrorReading == .first)
        if isOrdered { return items == model.visible }
        return items.count == model.visible.count && Set(items) == Set(model.visible)
    }

    private func require(_ isMet: Bool, _ message: @autoclosure () -> String) throws {
        if !isMet { throw Difference(description: message()) }
    }

    private func described(_ data: Data?) -> String { data.map { "\(Array($0))" } ?? "nothing" }

    // MARK: Random values

    private func key() -> CacheKey { keys.randomElement(using: &generator) ?? keys[0] }

    private func data() -> Data {
        let size = Int.random(in: 0..<40, using: &generator) == 0 ? 600 : Int.random(in: 0...120, using: &generator)
        return Data(repeating: UInt8.random(in: 0...255, using: &generator), count: size)
    }

    private func operation() -> StorageOperation {
        switch Int.random(in: 0..<20, using: &generator) {
        case 0: .removeAll
        case 1..<7: .remove(key: key())
        default: .write(key: key(), data: data())
        }
    }

    private func many<Element>(_ make: (isolated NestingModelTest) -> Element) -> [Element] {
        (0..<Int.random(in: 0...5, using: &generator)).map { _ in make(self) }
    }
}
