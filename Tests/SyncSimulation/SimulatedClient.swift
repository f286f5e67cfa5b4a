import Bodega
import BodegaSync
import BodegaTesting
import Foundation

/// A client of a simulation: a local database, one or two programs that use it, and a user.
final class SimulatedClient {
    /// What survives a crash.
    struct Disk {
        var records: [SyncItemID: OutboxRecord] = [:]
        var items: [SyncItemID: Data] = [:]
        var groups: [UUID: OutboxGroup] = [:]
        var requests: [SentRequest] = []
        var cursors: [String: SimulatedServer.Cursor] = [:]
        /// The number of pulls that have stored something.
        var pulls = 0
    }

    /// A program, whose state is lost in a crash.
    final class Program {
        var machine: SyncMachine
        /// The collections that it has opened.
        var collections: Set<String>
        var isRunning = true
        var timer = 0
        var resting = RestingItems()

        init(_ machine: SyncMachine, _ collections: Set<String>) {
            (self.machine, self.collections) = (machine, collections)
        }

        /// Whether it can send changes together.
        func contains(_ items: [SyncItemID]) -> Bool { items.allSatisfy { collections.contains($0.collection) } }

        /// Whether it goes on with a request of another program.
        func isConcerned(by request: SentRequest) -> Bool {
            request.wasApplied == nil
                ? request.items.contains { collections.contains($0.collection) }
                : request.groups.contains(where: contains)
        }
    }

    static let collections: Set = ["a", "b"]

    /// Items that are changed together only.
    static let pairs = ["p", "q"].map { key in
        (
            first: SyncItemID(collection: "a", key: CacheKey(key)),
            second: SyncItemID(collection: "b", key: CacheKey(key))
        )
    }

    let number: Int
    /// The version of the app, which knows two members more than its number says.
    var version: Int
    var clock = SimulatedClock()
    var disk = Disk()
    var isBlockedIn = false
    var isBlockedOut = false
    var isAuthorized = true
    private var programs: [Program] = []
    unowned let simulation: Simulation
    private let identifiers: Identifiers
    /// Whether the collections may be from different moments, after a snapshot of them.
    private var isBetween = true

    init(_ number: Int, seed: UInt64, version: Int, _ simulation: Simulation) {
        (self.number, self.version, self.simulation) = (number, version, simulation)
        identifiers = Identifiers(seed: seed)
    }

    // MARK: Programs

    /// Starts a program.
    func start() {
        if simulation.has(.requestsForgottenInCrash) { disk.requests = [] }
        let program = Program(SyncMachine(seed: identifiers.number()), simulation.openedCollections())
        programs.append(program)
        handle(.resume(disk.requests.filter { program.contains($0.items) }), program)
    }

    /// Lets all programs open all collections.
    func openAll() {
        for program in programs where program.collections != Self.collections {
            program.collections = Self.collections
            handle(.resume(disk.requests), program)
        }
    }

    /// Ends all programs, and starts them again after a time.
    func crash(for length: Int) {
        let count = programs.count
        for program in programs { program.isRunning = false }
        programs = []
        simulation.restart(self)
        simulation.schedule(after: length) { [unowned self] in
            while programs.count < count { start() }
        }
    }

    /// Ends one of several programs for good.
    func crashOne() -> Bool {
        guard programs.count > 1 else { return false }
        programs.removeLast().isRunning = false
        return true
    }

    /// Starts a program if there is none.
    func restart() { if programs.isEmpty { start() } }

    /// Passes an event to all programs.
    func handle(_ event: SyncMachine.Event) { for program in programs { handle(event, program) } }

    func handle(_ event: SyncMachine.Event, _ program: Program) {
        guard program.isRunning else { return }
        let effects = program.machine.step(event, now: clock.time(at: simulation.now))
        for effect in effects { perform(effect, program) }
    }

    /// Runs a closure later, unless the program has ended until then.
    func later(_ program: Program, upTo limit: Int, _ body: @escaping () -> Void) {
        simulation.schedule(after: simulation.delay(upTo: limit)) { if program.isRunning { body() } }
    }

    func startTimer(_ program: Program, until time: Duration) {
        program.timer += 1
        let number = program.timer
        simulation.schedule(at: max(clock.moment(of: time), simulation.now + 1)) { [unowned self] in
            if program.timer == number { handle(.elapsed, program) }
        }
    }

    // MARK: Transactions

    /// Changes the local database in one transaction.
    @discardableResult
    func transact<Result>(_ change: (inout OutboxDraft) -> Result) -> Result {
        let simulation = simulation
        let (policy, defect) = (simulation.policy, simulation.options.defect)
        var draft = OutboxDraft(newID: { [identifiers] in identifiers.uuid() }) { [identifiers] versions in
            switch defect {
            case .randomVersionWins:
                let isLocal = identifiers.number() % 2 == 0
                return MergeResult(data: isLocal ? versions.local : versions.remote, losses: [])
            case .localVersionWins: return MergeResult(data: versions.local, losses: [])
            case .remoteVersionWins: return MergeResult(data: versions.remote, losses: [])
            default: return policy.merged(versions)
            }
        }
        let old = disk.items
        (draft.records, draft.items, draft.groups, draft.requests) = (
            disk.records, disk.items, disk.groups, disk.requests
        )
        let result = change(&draft)
        (disk.records, disk.items, disk.groups, disk.requests) = (
            draft.records, draft.items, draft.groups, draft.requests
        )
        if !simulation.has(.lossesNotReported) {
            simulation.checks.reported(
                number, draft.outcomes, tellsRemote: !simulation.has(.remoteLossesNotReported), at: simulation.now)
        }
        // In an order, so that equal seeds report the same in the same order.
        let changed = Set(old.keys).union(disk.items.keys).filter { old[$0] != disk.items[$0] }
        for item in changed.sorted(by: { $0.text < $1.text }) {
            simulation.checks.shown(number, item, from: old[item], to: disk.items[item], at: simulation.now)
        }
        if !isBetween {
            for pair in Self.pairs {
                simulation.checks.checkPair(
                    disk.items[pair.first], disk.items[pair.second], "client \(number)", at: simulation.now)
            }
        }
        return result
    }

    func collectionsAreBetween(_ isBetween: Bool) { self.isBetween = isBetween }

    // MARK: End

    func isParked(_ item: SyncItemID) -> Bool { disk.records[item]?.edit?.failure != nil }

    /// Whether an item waits for an answer that never comes, while no others are answered.
    func isResting(_ item: SyncItemID) -> Bool {
        guard let record = disk.records[item], record.sent == nil, let edit = record.edit else { return false }
        let tokens = edit.data.map { Array(SimulatedItem($0).members.values) } ?? []
        return edit.attempts >= OutboxDraft.maximumAttempts && simulation.hasSilent(tokens + groupTokens(of: item))
    }

    /// The numbers in the items that are sent with an item.
    func groupTokens(of item: SyncItemID) -> [Int] {
        guard let id = disk.records[item]?.edit?.group, let group = disk.groups[id] else { return [] }
        return group.members.flatMap { member in
            disk.records[member]?.edit?.data.map { Array(SimulatedItem($0).members.values) } ?? []
        }
    }

    /// Whether nothing is left to do, and the user sees what the server has.
    func isQuiet(_ items: [SyncItemID: Data]) -> Bool { difference(items).isEmpty }

    /// Whether no program can do anything with the collections that it has opened.
    func isPartlyQuiet(_ items: [SyncItemID: Data]) -> Bool { partialDifference(items).isEmpty }

    func partialDifference(_ items: [SyncItemID: Data]) -> String {
        var differences: [String] = []
        for (item, record) in disk.records where !isResting(item) {
            var members = [item]
            if let group = record.edit?.group.flatMap({ disk.groups[$0] }) {
                members = group.members.filter { disk.records[$0]?.edit?.group == record.edit?.group }
            }
            let isSendable =
                record.edit != nil && record.edit?.failure == nil
                && members.allSatisfy { disk.records[$0]?.sent == nil }
                && programs.contains { $0.contains(members) }
            let isOnItsWay = disk.requests.contains { request in
                request.id == record.sent?.request && programs.contains { $0.isConcerned(by: request) }
            }
            if isSendable || isOnItsWay { differences.append("\(item.text) is pending") }
        }
        for item in Set(items.keys).union(disk.items.keys) where disk.records[item] == nil {
            if programs.contains(where: { $0.contains([item]) }), items[item] != disk.items[item] {
                differences.append("\(item.text) differs")
            }
        }
        return differences.sorted().joined(separator: ", ")
    }

    func difference(_ items: [SyncItemID: Data]) -> String {
        var differences: [String] = []
        for (item, record) in disk.records where record.edit?.failure == nil || record.sent != nil {
            if !isResting(item) { differences.append("\(item.text) is pending") }
        }
        for item in Set(items.keys).union(disk.items.keys)
        where items[item] != disk.items[item] && !isParked(item) && !isResting(item) {
            let own = disk.items[item].map { String(decoding: $0, as: UTF8.self) } ?? "nothing"
            let other = items[item].map { String(decoding: $0, as: UTF8.self) } ?? "nothing"
            differences.append("\(item.text) is \(own) instead of \(other)")
        }
        if programs.contains(where: { $0.machine.hasRequests }) { differences.append("a request is on its way") }
        return differences.sorted().joined(separator: ", ")
    }
}

/// The clock of a device, which is not the time of the simulation.
struct SimulatedClock {
    /// What it shows at the beginning, in milliseconds.
    var start = 0.0
    var speed = 1.0

    func time(at milliseconds: Int) -> Duration { .milliseconds(start + Double(milliseconds) * speed) }

    /// When the clock shows a time, in milliseconds.
    func moment(of time: Duration) -> Int { Int(((time / .milliseconds(1) - start) / speed).rounded(.up)) }
}

/// Identifiers of a client, the same for the same seed.
private final class Identifiers: @unchecked Sendable {
    // @unchecked because a simulation runs on one thread.
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    func number() -> UInt64 { generator.next() }

    func uuid() -> UUID {
        var bits = (generator.next(), generator.next())
        return UUID(uuid: withUnsafeBytes(of: &bits) { $0.loadUnaligned(as: uuid_t.self) })
    }
}
