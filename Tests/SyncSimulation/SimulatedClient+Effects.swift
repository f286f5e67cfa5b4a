import Bodega
import BodegaSync
import Foundation

// What a client's programs do.
extension SimulatedClient {
    /// The time after which a request without an answer has failed.
    private static let timeLimit = 2_000

    private static let timeOut = SyncMachine.Failure(SyncFailure(code: "timedOut", message: "There was no answer."))
    private static let unauthorized = SyncMachine.Failure(
        SyncFailure(code: "unauthorized", message: "The token is not valid."), isUnauthorized: true)

    func perform(_ effect: SyncMachine.Effect, _ program: Program) {
        guard program.isRunning, !crashes() else { return }
        switch effect {
        case .prepare(let limit, let wakes):
            later(program, upTo: 20) { [unowned self] in
                if wakes { program.resting.wake() }
                prepare(limit, program)
            }
        case .send(let id): send(id, program)
        case .fence(let id): fence(id, program)
        case .pull(let answers): pull(answers, program)
        case .reauthorize:
            if simulation.has(.authorizationForgotten) { return }
            later(program, upTo: 500) { [unowned self] in
                let succeeds = simulation.isHealed || !simulation.chance(3)
                if succeeds { isAuthorized = true }
                handle(.reauthorized(succeeds), program)
            }
        case .wait(let until):
            if simulation.has(.timersForgotten), simulation.chance(3) { return }
            startTimer(program, until: until)
        }
    }

    /// Ends the programs now and then, and returns whether it has.
    private func crashes() -> Bool {
        guard simulation.mayCrash() else { return false }
        crash(for: simulation.delay(upTo: 1_500))
        return true
    }

    // MARK: Sending

    private func prepare(_ limit: Int, _ program: Program) {
        let parked = disk.records.values.contains { $0.edit?.failure != nil }
        if simulation.has(.parkedHoldsUpOthers), parked {
            return handle(.prepared(nil, all: [], waits: false), program)
        }
        // What becomes of a request is in the log after the cursor.
        let canSend = { [unowned self] collection in
            program.collections.contains(collection)
                && (disk.cursors[collection] != nil || simulation.has(.sentBeforePull))
        }
        let sendable = disk.records.keys.filter { canSend($0.collection) }.sorted { $0.text < $1.text }
        let candidates = sendable.filter { item in
            disk.records[item]?.edit.map { program.resting.mayBeSent(item, $0) } ?? true
        }
        let changed = candidates.filter { item in
            disk.records[item].map { $0.sent == nil && $0.edit != nil && $0.edit?.failure == nil } ?? false
        }
        let (request, waits) = transact { draft in
            let waits = draft.mustWait(oneOf: changed, where: canSend)
            let request = draft.take(candidates, upTo: limit, maximumBytes: .max, where: canSend)
                .flatMap { request in draft.requests.first { $0.id == request.id } }
            return (request, waits)
        }
        // The transaction is durable before the machine knows of it.
        if crashes() { return }
        later(program, upTo: 20) { [unowned self, simulation] in
            let all = simulation.has(.requestsOfOthersForgotten) ? [] : disk.requests
            let isConcerned = { (request: SentRequest) in
                simulation.has(.requestsOfOthersWait)
                    ? program.contains(request.items) : program.isConcerned(by: request)
            }
            handle(.prepared(request?.id, all: all.filter(isConcerned), waits: waits), program)
        }
    }

    /// Calls a closure with the first of several results, or after a time limit.
    private func onlyOnce<Value>(
        _ program: Program, timeLimit: Value, _ body: @escaping (Value) -> Void
    ) -> (Value) -> Void {
        var isDone = false
        let finish: (Value) -> Void = { value in
            if isDone || !program.isRunning { return }
            isDone = true
            body(value)
        }
        simulation.schedule(after: Self.timeLimit) { finish(timeLimit) }
        return finish
    }

    private func send(_ id: UUID, _ program: Program) {
        var request: SyncRequest?
        transact { request = $0.request(id) }
        guard let request else {
            return later(program, upTo: 5) { [unowned self] in handle(.answered(id, .applied), program) }
        }
        let finish = onlyOnce(program, timeLimit: Simulation.Reply.none) { [unowned self] reply in
            switch reply {
            case .answer(let answer): answered(id, answer, program)
            case .unauthorized: handle(.unanswered(id, Self.unauthorized), program)
            case .none: unanswered(id, program)
            }
        }
        let sent = simulation.has(.newIdentifierOnRepetition) ? UUID() : id
        simulation.toServer(from: self) { [unowned self] in
            let reply = simulation.apply(sent, request.changes, from: self)
            if case .none = reply { return }
            simulation.toClient(self) { finish(reply) }
        }
    }

    private func answered(_ id: UUID, _ answer: SyncAnswer, _ program: Program) {
        switch answer {
        case .applied where simulation.has(.ownWritesRevert):
            transact { $0.settle(id, .applied) }
        case .applied where simulation.has(.editDuringUploadLost):
            for item in disk.requests.first(where: { $0.id == id })?.items ?? [] { disk.records[item]?.edit = nil }
        case .conflict where simulation.has(.appliedTwice):
            // Its versions are those that the server has, so that the next attempt is applied.
            for item in disk.requests.first(where: { $0.id == id })?.items ?? [] {
                disk.records[item]?.sent?.base = simulation.server.items[item]
            }
            return send(id, program)
        case .refused where simulation.has(.refusedEndsSending): return
        case .refused where simulation.has(.refusedIsRepeated): return handle(.answered(id, .conflict), program)
        case .refused where simulation.has(.parkedForgotten):
            for item in disk.requests.first(where: { $0.id == id })?.items ?? [] { disk.records[item] = nil }
        default: break
        }
        handle(.answered(id, answer), program)
    }

    private func unanswered(_ id: UUID, _ program: Program) {
        if simulation.has(.droppedOnTemporaryError) {
            for item in disk.requests.first(where: { $0.id == id })?.items ?? [] { disk.records[item] = nil }
        }
        handle(.unanswered(id, Self.timeOut), program)
    }

    private func fence(_ id: UUID, _ program: Program) {
        if simulation.has(.notFenced) {
            return later(program, upTo: 20) { [unowned self] in handle(.fenced(id, wasApplied: false), program) }
        }
        let finish = onlyOnce(program, timeLimit: Bool?.none) { [unowned self] wasApplied in
            if let wasApplied {
                handle(.fenced(id, wasApplied: wasApplied), program)
            } else {
                handle(.unanswered(id, Self.timeOut), program)
            }
        }
        simulation.toServer(from: self) { [unowned self] in
            // Without receipts, the log shows it.
            let wasApplied = simulation.keepsReceipts && simulation.server.fence(id, at: simulation.now)
            simulation.toClient(self) { finish(wasApplied) }
        }
    }

    // MARK: Pulling

    private struct Pulled {
        var news: [SimulatedServer.News] = []
        var batches: Set<UUID> = []
        /// Versions that were asked for, from a later moment.
        var needed: [(item: SyncItemID, data: Data?)] = []
        var isUnauthorized = false
    }

    private func pull(_ answers: [UUID: SyncAnswer], _ program: Program) {
        let (cursors, pulls, collections) = (disk.cursors, disk.pulls, program.collections.sorted())
        let needed = disk.requests.filter { answers[$0.id] != nil && answers[$0.id] != .applied }.flatMap(\.items)
            .filter { collections.contains($0.collection) }
        let finish = onlyOnce(program, timeLimit: Pulled?.none) { [unowned self] pulled in
            guard let pulled else { return handle(.pullFailed(Self.timeOut), program) }
            if pulled.isUnauthorized { return handle(.pullFailed(Self.unauthorized), program) }
            receive(pulled, answers, program, pulls)
        }
        simulation.toServer(from: self) { [unowned self] in
            guard isAuthorized else {
                return simulation.toClient(self) { finish(Pulled(isUnauthorized: true)) }
            }
            var pulled = Pulled()
            var gaps: [Int] = []
            for collection in collections {
                let (news, batches) = simulation.server.pull(collection, since: cursors[collection], at: simulation.now)
                if news.isWhole { gaps.append(pulled.news.count) }
                pulled.news.append(news)
                pulled.batches.formUnion(batches)
            }
            // Items of a snapshot are read after its cursor, and versions that are needed after both.
            simulation.schedule(after: simulation.delay(upTo: 300)) { [unowned self] in
                for number in gaps {
                    let cursor = pulled.news[number].cursor
                    (pulled.news[number], _) = simulation.server.pull(
                        pulled.news[number].collection, since: nil, at: simulation.now)
                    if !simulation.has(.seam) {
                        pulled.news[number].cursor = cursor
                    } else if !pulled.news[number].items.isEmpty {
                        pulled.news[number].items.removeLast()
                    }
                }
                pulled.needed = needed.map { ($0, simulation.server.items[$0]) }
                simulation.toClient(self) { [unowned self, pulled] in
                    if simulation.has(.answersOfPullsReordered), simulation.chance(3) {
                        // An old answer is taken for one to a later pull.
                        simulation.schedule(after: 1_000) { [unowned self] in
                            if program.isRunning { receive(pulled, answers, program, disk.pulls) }
                        }
                    }
                    finish(pulled)
                }
            }
        }
    }

    /// - Parameter pulls: The number of pulls when this one began. Another program may have pulled since.
    private func receive(_ pulled: Pulled, _ answers: [UUID: SyncAnswer], _ program: Program, _ pulls: Int) {
        guard isCurrent(pulls) else { return handle(.pullFailed(Self.timeOut), program) }
        let isIgnored =
            simulation.has(.pullsWaitForQueue) && !disk.records.isEmpty
            || simulation.has(.pullDuringPushIgnored) && !disk.requests.isEmpty
        if isIgnored {
            if simulation.has(.pullDuringPushIgnored) {
                for news in pulled.news { disk.cursors[news.collection] = news.cursor }
            } else {
                return handle(.pullFailed(Self.timeOut), program)
            }
        }
        var parts: [[(item: SyncItemID, data: Data?)]] = []
        let isWhole = pulled.news.contains(where: \.isWhole)
        for news in pulled.news where !isIgnored {
            let items = news.items.map { (item: SyncItemID(collection: news.collection, key: $0.key), data: $0.data) }
            if isWhole {
                for start in stride(from: 0, to: items.count, by: 3) {
                    parts.append(Array(items[start..<min(start + 3, items.count)]))
                }
            } else if simulation.has(.transactionPulledInParts) {
                parts += items.map { [$0] }
            } else {
                parts = [(parts.first ?? []) + items]
            }
        }
        if simulation.has(.cursorBeforeItems) {
            for news in pulled.news { disk.cursors[news.collection] = news.cursor }
        }
        if isWhole {
            collectionsAreBetween(true)
            disk.pulls += 1
            passOn(parts[...], pulled, answers, program, disk.pulls)
        } else if simulation.has(.transactionPulledInParts) {
            disk.pulls += 1
            passOn(parts[...], pulled, answers, program, disk.pulls)
        } else {
            finish(parts.first ?? [], pulled, answers, program, pulls)
        }
    }

    private func isCurrent(_ pulls: Int) -> Bool { disk.pulls == pulls || simulation.has(.pullsOverlap) }

    /// Stores parts of a snapshot, each in a transaction.
    private func passOn(
        _ parts: ArraySlice<[(item: SyncItemID, data: Data?)]>, _ pulled: Pulled, _ answers: [UUID: SyncAnswer],
        _ program: Program, _ pulls: Int
    ) {
        guard let part = parts.first else { return finish([], pulled, answers, program, pulls) }
        guard isCurrent(pulls) else { return handle(.pullFailed(Self.timeOut), program) }
        transact { draft in for (item, data) in part { draft.receive(item, data) } }
        if crashes() { return }
        later(program, upTo: 20) { [unowned self] in passOn(parts.dropFirst(), pulled, answers, program, pulls) }
    }

    /// Ends a pull: removes what a snapshot does not have, ends requests, and remembers the cursors.
    private func finish(
        _ items: [(item: SyncItemID, data: Data?)], _ pulled: Pulled, _ answers: [UUID: SyncAnswer],
        _ program: Program, _ pulls: Int
    ) {
        guard isCurrent(pulls) else { return handle(.pullFailed(Self.timeOut), program) }
        disk.pulls += 1
        let isWhole = pulled.news.contains(where: \.isWhole)
        let isPartial = pulled.news.count < Self.collections.count
        if isPartial || !isWhole { collectionsAreBetween(isPartial) }
        var removed: [SyncItemID] = []
        for news in pulled.news where news.isWhole && !simulation.has(.snapshotKeepsRemoved) {
            let seen = Set(news.items.map(\.key))
            let own = Set(disk.items.keys).union(disk.records.keys).filter { $0.collection == news.collection }
            removed += own.filter { !seen.contains($0.key) }
        }
        if simulation.has(.snapshotRemovesPending) { for item in removed { disk.records[item] = nil } }
        let settled = simulation.has(.settledByEarlierPull) ? Set(disk.requests.map(\.id)) : Set(answers.keys)
        transact { draft in
            for (item, data) in items {
                if simulation.has(.removalsIgnored), data == nil { continue }
                draft.receive(item, data)
            }
            for item in removed { draft.receive(item, nil) }
            for (item, data) in pulled.needed { draft.receive(item, data) }
            for request in draft.requests {
                // Those that the log shows were applied, whether their answers have come or not.
                let isKnown = pulled.batches.contains(request.id) && !simulation.has(.logNotSearched)
                if isKnown || settled.contains(request.id) {
                    let read = Set(pulled.news.map(\.collection))
                    if isKnown || answers[request.id] == .applied, !simulation.has(.unreadNotTakenOver) {
                        draft.receiveSent(by: request.id) { !read.contains($0.collection) }
                    }
                    let answer = isKnown ? .applied : answers[request.id] ?? .applied
                    let isAll =
                        simulation.has(.halfSettled)
                        || simulation.has(.unreadNotTakenOver) && answer == .applied
                    draft.settle(request.id, answer) { isAll || read.contains($0) }
                }
            }
        }
        if !simulation.has(.cursorBeforeItems) {
            for news in pulled.news { disk.cursors[news.collection] = news.cursor }
        }
        if crashes() { return }
        later(program, upTo: 20) { [unowned self] in handle(.pulled(missing: nil), program) }
    }
}
