import Bodega
import BodegaSync
import BodegaTesting
import Foundation

/// Several clients and a server in virtual time, with faults. Equal options give equal runs.
///
/// The clients use the state machine and the outbox of the product. What carries out their effects, the network, the
/// local databases and the server are simulated, so that each moment of a crash and each order of messages can occur.
package final class Simulation {
    /// The time without faults in which the clients must come to an end, by the slowest of their clocks.
    private var patience: Int { Int(60_000 / (clients.map(\.clock.speed).min() ?? 1)) }

    let options: SimulationOptions
    var server = SimulatedServer()
    var checks = SimulationChecks()
    private(set) var now = 0
    private(set) var isHealed = false
    private(set) var clients: [SimulatedClient] = []
    private var queue = EventQueue()
    private var users: SeededGenerator
    private var messages: SeededGenerator
    private var accidents: SeededGenerator
    private var openings: SeededGenerator
    private var clocks: SeededGenerator
    private var lastToken = 0
    /// The number of the server's life; messages to an earlier one are lost.
    private var life = 0
    private var isDown = false
    /// The tokens that the server refuses, or never answers.
    private var refused: Set<Int> = []
    private var silent: Set<Int> = []
    let policy: SyncConflictPolicy
    /// Whether the server recognizes requests. If it does not, none arrives late or twice, and the log never ends.
    let keepsReceipts: Bool

    /// Creates a simulation.
    package init(_ options: SimulationOptions) {
        self.options = options
        users = SeededGenerator(seed: options.seed &* 3 &+ 1)
        messages = SeededGenerator(seed: options.seed &* 5 &+ 2)
        accidents = SeededGenerator(seed: options.seed &* 7 &+ 3)
        openings = SeededGenerator(seed: options.seed &* 11 &+ 4)
        clocks = SeededGenerator(seed: options.seed &* 13 &+ 5)
        let earlierWins = Int.random(in: 0..<4, using: &users) == 0
        policy = earlierWins ? .earlierWins : .laterWins
        checks.keepsPairs = !earlierWins
        keepsReceipts = !(options.faults.contains(.noReceipts) && Int.random(in: 0..<3, using: &accidents) == 0)
        if has(.oldLog), Bool.random(using: &accidents), keepsReceipts { server.logAge = 5_000 }
        if has(.oldReceipts), Bool.random(using: &accidents) { server.receiptAge = 10_000 }
        checks.mayRepeat = server.receiptAge < .max && keepsReceipts && (server.logAge < .max || has(.failover))
        checks.recognizesRequests = keepsReceipts
        checks.traced = options.traced
        for number in 0..<options.clients {
            let seed = UInt64.random(in: .min ... .max, using: &users)
            let client = SimulatedClient(number, seed: seed, version: number % 3, self)
            if has(.clocks) {
                client.clock.speed = Double.random(in: 0.8...1.25, using: &clocks)
                resetClock(of: client)
            }
            clients.append(client)
        }
    }

    /// Runs the simulation.
    ///
    /// - Returns: What is wrong; empty if nothing is.
    package func run() -> [String] {
        for client in clients {
            for _ in 0..<Int.random(in: 0...2, using: &users) { client.addExisting() }
            client.start()
            if has(.programs), chance(4) { client.start() }
        }
        var time = 0
        for _ in 0..<options.operations {
            time +=
                Int.random(in: 0..<4, using: &users) == 0
                ? Int.random(in: 500...4_000, using: &users) : Int.random(in: 0...200, using: &users)
            let client = clients[Int.random(in: 0..<clients.count, using: &users)]
            let seed = UInt64.random(in: .min ... .max, using: &users)
            schedule(at: time) { [unowned client] in
                var generator = SeededGenerator(seed: seed)
                client.act(&generator)
            }
        }
        for _ in 0..<6 { scheduleAccident(before: time) }
        var end = time + 1_000
        schedule(at: end) { [unowned self] in heal() }
        while let event = queue.next(), checks.violations.isEmpty {
            now = event.time
            event.body()
            if !isHealed || now < end + 500 { continue }
            if !areAllOpen, isPartlyQuiet { (areAllOpen, end) = (true, now) }
            if areAllOpen && isQuiet || now > end + patience { break }
        }
        if checks.violations.isEmpty { checkEnd() }
        let violations = checks.violations
        clients = []
        queue = EventQueue()
        return violations
    }

    // MARK: Time and chance

    func schedule(at time: Int, _ body: @escaping () -> Void) { queue.add(time, body) }

    func schedule(after delay: Int, _ body: @escaping () -> Void) { queue.add(now + delay, body) }

    func has(_ fault: SimulationOptions.Fault) -> Bool { options.faults.contains(fault) }

    func has(_ defect: Defect) -> Bool { options.defect == defect }

    /// Lets a device begin again after a crash, with another moment of its clock, and another version of the app.
    func restart(_ client: SimulatedClient) {
        if has(.clocks) { resetClock(of: client) }
        if has(.upgrades) { client.version = Int.random(in: 0..<3, using: &clocks) }
    }

    private func resetClock(of client: SimulatedClient) {
        client.clock.start = Double(Int.random(in: 0..<1_000_000_000, using: &clocks))
    }

    /// The collections that a program opens.
    func openedCollections() -> Set<String> {
        let all = SimulatedClient.collections
        guard has(.fewCollections), !areAllOpen, Int.random(in: 0..<3, using: &openings) == 0 else { return all }
        return all.sorted().randomElement(using: &openings).map { [$0] } ?? all
    }

    /// Whether something happens that does once in so many times.
    func chance(_ rarity: Int) -> Bool { Int.random(in: 0..<rarity, using: &messages) == 0 }

    func delay(upTo limit: Int) -> Int { Int.random(in: 1...limit, using: &messages) }

    /// Whether a program ends at this moment.
    func mayCrash() -> Bool { !isHealed && has(.crash) && Int.random(in: 0..<120, using: &accidents) == 0 }

    func newToken() -> Int {
        lastToken += 1
        return lastToken
    }

    func makeRefused(_ token: Int) { refused.insert(token) }

    func makeSilent(_ token: Int) { silent.insert(token) }

    func hasSilent(_ tokens: [Int]) -> Bool { tokens.contains(where: silent.contains) }

    // MARK: Messages

    /// Sends a message to the server.
    ///
    /// - Parameters:
    ///   - client: The sender.
    ///   - body: What the server does. It can be called twice, or never.
    func toServer(from client: SimulatedClient, _ body: @escaping () -> Void) {
        transmit(client, isBlocked: { $0.isBlockedOut }) { [unowned self, life] in
            if life == self.life, !isDown { body() }
        }
    }

    func toClient(_ client: SimulatedClient, _ body: @escaping () -> Void) {
        transmit(client, isBlocked: { $0.isBlockedIn }, body)
    }

    private func transmit(
        _ client: SimulatedClient, isBlocked: @escaping (SimulatedClient) -> Bool, _ body: @escaping () -> Void
    ) {
        if isBlocked(client) { return }
        if !isHealed, has(.loss), chance(10) { return }
        let isDouble = !isHealed && has(.duplication) && chance(10) && keepsReceipts
        for _ in 0..<(isDouble ? 2 : 1) {
            let isLate = !isHealed && has(.delay) && chance(8) && keepsReceipts
            schedule(after: delay(upTo: isLate ? 9_000 : 80)) { [unowned client] in
                if !isBlocked(client) { body() }
            }
        }
    }

    /// Signals a change to all clients. A lost signal comes when the stream is open again.
    private func signal() {
        for client in clients {
            let isLost = client.isBlockedIn || client.isBlockedOut || !isHealed && has(.loss) && chance(10)
            if isLost, has(.reconnectionIsNoSignal) { continue }
            schedule(after: isLost ? 2_000 + delay(upTo: 500) : delay(upTo: 80)) { [unowned client] in
                // The end of a partition is a signal, too.
                if !client.isBlockedIn, !client.isBlockedOut { client.handle(.remoteChanged) }
            }
        }
    }

    // MARK: Server

    enum Reply { case answer(SyncAnswer), unauthorized, none }

    /// The server's part of a request.
    func apply(_ id: UUID, _ changes: [SyncChange], from client: SimulatedClient) -> Reply {
        if !client.isAuthorized { return .unauthorized }
        let tokens = changes.flatMap { change in change.data.map { Array(SimulatedItem($0).members.values) } ?? [] }
        if hasSilent(tokens) { return .none }
        var changes = changes
        if has(.noConditions) {
            changes = changes.map { SyncChange(item: $0.item, base: server.items[$0.item], data: $0.data) }
        }
        let answer = server.apply(
            id, changes, refusal: refusal(of: changes), keepsReceipts: keepsReceipts && !has(.appliedTwice),
            keepsVoids: !has(.voidReceiptsIgnored), keepsConflicts: !has(.conflictsForgotten), at: now)
        switch answer {
        case .applied(let commits):
            for commit in commits { checks.committed(client.number, commit, at: now) }
            for pair in SimulatedClient.pairs {
                checks.checkPair(server.items[pair.first], server.items[pair.second], "the server", at: now)
            }
            signal()
            return .answer(.applied)
        case .repeated: return .answer(.applied)
        case .conflict, .fenced: return .answer(.conflict)
        case .refused(let answer): return .answer(answer)
        }
    }

    /// The answer to changes that are refused; `nil` if they are not. One half of the answers name an item.
    private func refusal(of changes: [SyncChange]) -> SyncAnswer? {
        for change in changes {
            guard let data = change.data else { continue }
            for token in SimulatedItem(data).members.values.sorted() where refused.contains(token) {
                let failure = SyncFailure(code: "tooLarge", message: "An item is refused.")
                return .refused(failure, of: token.isMultiple(of: 2) ? change.item : nil)
            }
        }
        return nil
    }

    // MARK: Accidents

    private func scheduleAccident(before end: Int) {
        let time = Int.random(in: 0...Swift.max(end, 1), using: &accidents)
        let length = Int.random(in: 200...10_000, using: &accidents)
        let client = clients[Int.random(in: 0..<clients.count, using: &accidents)]
        let kinds: [SimulationOptions.Fault] = [.partition, .crash, .crash, .failover, .expiry]
        let kind = kinds[Int.random(in: 0..<kinds.count, using: &accidents)]
        guard has(kind), kind != .failover || keepsReceipts else { return }
        let (blocksIn, blocksOut) = (Bool.random(using: &accidents), Bool.random(using: &accidents))
        schedule(at: time) { [unowned self, unowned client] in
            if isHealed { return }
            switch kind {
            case .partition:
                (client.isBlockedIn, client.isBlockedOut) = (blocksIn || !blocksOut, blocksOut || !blocksIn)
                schedule(after: length) { [unowned self, unowned client] in endPartition(of: client) }
            case .crash where length.isMultiple(of: 2) && client.crashOne(): break
            case .crash: client.crash(for: min(length, 3_000))
            case .failover:
                server.failOver()
                life += 1
                isDown = true
                schedule(after: min(length, 3_000)) { [unowned self] in isDown = false }
            case .expiry: client.isAuthorized = false
            default: break
            }
        }
    }

    /// Ends the partition of a client. Its stream is opened again soon.
    private func endPartition(of client: SimulatedClient) {
        (client.isBlockedIn, client.isBlockedOut) = (false, false)
        if has(.reconnectionIsNoSignal) { return }
        schedule(after: delay(upTo: 2_000)) { [unowned client] in client.handle(.remoteChanged) }
    }

    private func heal() {
        isHealed = true
        isDown = false
        for client in clients {
            // Others get no signal, which would hide that they have missed one.
            if client.isBlockedIn || client.isBlockedOut { endPartition(of: client) }
            client.restart()
        }
    }

    // MARK: End

    /// Whether all programs have opened all collections, after those with fewer of them have come to an end.
    private var areAllOpen = false {
        didSet { if areAllOpen { for client in clients { client.openAll() } } }
    }

    private var isPartlyQuiet: Bool { clients.allSatisfy { $0.isPartlyQuiet(server.items) } }

    private var isQuiet: Bool { clients.allSatisfy { $0.isQuiet(server.items) } }

    private func checkEnd() {
        for client in clients where !areAllOpen && !client.isPartlyQuiet(server.items) {
            checks.fail("client \(client.number) is stuck: \(client.partialDifference(server.items))", at: now)
        }
        if !areAllOpen { return }
        for client in clients where !client.isQuiet(server.items) {
            checks.fail("client \(client.number) is stuck: \(client.difference(server.items))", at: now)
        }
        for client in clients {
            for item in client.disk.records.keys where client.isParked(item) {
                let tokens = SimulatedItem(client.disk.records[item]?.edit?.data ?? Data("{}".utf8)).members.values
                let group = client.groupTokens(of: item)
                if !(tokens + group).contains(where: { refused.contains($0) || silent.contains($0) }) {
                    checks.fail("client \(client.number) has parked \(item.text) for no reason", at: now)
                }
            }
        }
        checks.checkWrites(server.items, at: now) { clients[$0].isParked($1) || clients[$0].isResting($1) }
    }
}

/// Events in the order of their times, and of their addition.
private struct EventQueue {
    struct Event {
        let time: Int
        let number: Int
        let body: () -> Void
    }

    private var heap: [Event] = []
    private var lastNumber = 0

    mutating func add(_ time: Int, _ body: @escaping () -> Void) {
        lastNumber += 1
        heap.append(Event(time: time, number: lastNumber, body: body))
        var place = heap.count - 1
        while place > 0, comesBefore(place, (place - 1) / 2) {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    mutating func next() -> Event? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        if heap.isEmpty { return first }
        heap[0] = last
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count && comesBefore(child, least) {
                least = child
            }
            if least == place { return first }
            heap.swapAt(place, least)
            place = least
        }
    }

    private func comesBefore(_ left: Int, _ right: Int) -> Bool {
        (heap[left].time, heap[left].number) < (heap[right].time, heap[right].number)
    }
}
