import Bodega

/// What shows items of a database in this process: a store, or a live query.
@MainActor
protocol SharedTurnMember: AnyObject {
    /// Whether it shows items.
    var hasLoaded: Bool { get }

    /// Takes a turn, after all that wait for theirs, in which nothing else changes what the member shows.
    func takeTurn(_ body: @escaping @MainActor () async -> Void)

    /// Reads what has changed since what is shown, in a turn, at the moment of the task.
    ///
    /// - Returns: What shows it, `nil` if nothing has changed. It must be shown in the same turn.
    func readChanges() async throws -> ShownChange?

    /// Tries again to read what has changed, after a failure.
    func catchUpSoon()
}

/// The turns that all stores and live queries of a database in this process share.
///
///      change of a transaction over       transaction over
///      several collections is read        several stores is called
///               │                                  │
///               ▼                                  ▼
///             attend()                         perform()
///               └───────────────┬──────────────────┘
///                               ▼
///      run: call all members to a turn ──► read all logs at one moment ──► show everything ──► carry out the
///           that attend                    (if one of them asks for it)     in one step        transactions
///
/// 1. A store or a live query joins when it has loaded its items. As long as it is the only one, nothing else happens.
/// 2. A member shows the changes of others by itself, in its own turn. If some of them may belong to a transaction over
///    several collections, or are all items of a load, it calls ``attend(_:)`` in that turn instead.
/// 3. A run calls all members that have loaded to a turn, and waits until each attends. A member that already attends
///    in a turn of its own is not called.
/// 4. It reads the logs of all members at one moment of the database, and shows the changes without suspending. So what
///    a transaction has changed is shown together.
/// 5. A transaction takes a turn of each of its members when it is called, so that it comes after the operations that
///    were called before. It is carried out in the first run that all of them attend in these turns.
/// 6. Then all members go on, but those that have come for a transaction that waits for another member.
///
/// A member that attends waits for nothing but the run, and the run waits only for members that come to a turn. The
/// turns of transactions are in the same order in all members, because they take them without suspending. So no two of
/// them wait for each other. A turn comes after those that wait already, so no number of transactions holds up the
/// other operations of a store.
///
/// The main actor guards all state.
@MainActor
final class SharedTurns {

    private static var all: [ObjectIdentifier: Weak<SharedTurns>] = [:]

    /// Returns the shared turns of a database.
    static func of(_ database: any StorageDatabase) -> SharedTurns {
        let id = ObjectIdentifier(database)
        if let known = all[id]?.object { return known }
        all = all.filter { $0.value.object != nil }
        let turns = SharedTurns(database)
        all[id] = Weak(turns)
        return turns
    }

    let database: any StorageDatabase
    /// Those that have joined, and for some time those that are gone.
    private var members: [ObjectIdentifier: WeakMember] = [:]
    /// The number of members beyond which those that are gone are dropped.
    private var maximumCount = 64
    /// A member that attends.
    private struct Attendance {
        let member: any SharedTurnMember
        /// The number of the transaction in whose turn it attends; `nil` for another turn.
        let transaction: Int?
        let go: CheckedContinuation<Void, Never>
    }

    /// A transaction that was called, and is not carried out yet.
    private struct Transaction {
        let number: Int
        let members: [any SharedTurnMember]
        let body: @MainActor () async -> Void
    }

    private var attending: [ObjectIdentifier: Attendance] = [:]
    /// Those of them that attend the run.
    private var present: [any SharedTurnMember] = []
    /// The members that are called and do not attend yet.
    private var called: Set<ObjectIdentifier> = []
    private var gathered: CheckedContinuation<Void, Never>?
    private var isRunning = false
    /// Whether a member asks to be shown together with the others.
    private var mustShow = false
    private var transactions: [Transaction] = []
    private var lastNumber = 0

    private struct WeakMember {
        weak var member: (any SharedTurnMember)?
    }

    private init(_ database: any StorageDatabase) { self.database = database }

    /// Adds a member that has loaded, or is about to show what it has loaded.
    func join(_ member: any SharedTurnMember) {
        members[ObjectIdentifier(member)] = WeakMember(member: member)
        if members.count <= maximumCount { return }
        members = members.filter { $0.value.member != nil }
        maximumCount = max(64, 2 * members.count)
    }

    /// The members that show items.
    private var loaded: [any SharedTurnMember] { members.values.compactMap(\.member).filter(\.hasLoaded) }

    /// Whether others than a member show items. Each member asks at each change, so this looks for the first one only.
    func hasOthers(than member: any SharedTurnMember) -> Bool {
        members.values.contains { $0.member.map { $0 !== member && $0.hasLoaded } ?? false }
    }

    /// Waits in a member's turn until its changes are shown together with those of the others.
    func attend(_ member: any SharedTurnMember) async {
        mustShow = true
        await wait(member)
    }

    /// Lets a called member attend in its turn.
    private func answer(_ member: any SharedTurnMember) async {
        // It may have attended in an earlier turn.
        if called.contains(ObjectIdentifier(member)) { await wait(member) }
    }

    private func wait(_ member: any SharedTurnMember, for transaction: Int? = nil) async {
        await withCheckedContinuation { continuation in
            attending[ObjectIdentifier(member)] = Attendance(
                member: member, transaction: transaction, go: continuation)
            called.remove(ObjectIdentifier(member))
            if called.isEmpty { gathered.take()?.resume() }
            start()
        }
    }

    /// Carries out a transaction while all members attend.
    ///
    /// - Parameter members: Those that it reads or changes.
    func perform<Value: Sendable>(
        _ members: [any SharedTurnMember], _ transaction: @escaping @MainActor () async throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            lastNumber += 1
            let number = lastNumber
            transactions.append(
                Transaction(number: number, members: members) {
                    continuation.resume(with: await result(transaction))
                })
            for member in members { member.takeTurn { [self] in await wait(member, for: number) } }
            start()
        }
    }

    private func start() {
        if isRunning { return }
        isRunning = true
        let work: @MainActor @Sendable () async -> Void = { await self.run() }
        Task.detached(priority: .userInitiated, operation: work)
    }

    private func run() async {
        while mustShow || !transactions.isEmpty || !attending.isEmpty {
            await gather()
            let ready = takeReadyTransactions()
            if mustShow {
                mustShow = false
                await show()
            }
            for transaction in ready { await transaction.body() }
            // Not those that have come in the meantime, nor those whose transaction waits for another member.
            for member in present {
                let (id, waiting) = (ObjectIdentifier(member), transactions.lazy.map(\.number))
                if let number = attending[id]?.transaction, waiting.contains(number) { continue }
                attending.removeValue(forKey: id)?.go.resume()
            }
            present = []
        }
        isRunning = false
    }

    private func gather() async {
        var coming: Set<ObjectIdentifier> = []
        for transaction in transactions {
            for member in transaction.members where attending[ObjectIdentifier(member)] == nil {
                coming.insert(ObjectIdentifier(member))
            }
        }
        called.formUnion(coming)
        for member in loaded where attending[ObjectIdentifier(member)] == nil {
            let isNew = called.insert(ObjectIdentifier(member)).inserted
            if isNew { member.takeTurn { [self] in await answer(member) } }
        }
        if !called.isEmpty { await withCheckedContinuation { gathered = $0 } }
        present = attending.values.map(\.member)
    }

    /// Returns the transactions whose members have all come to their turns, in the order of the calls.
    private func takeReadyTransactions() -> [Transaction] {
        func isReady(_ transaction: Transaction) -> Bool {
            transaction.members.allSatisfy { attending[ObjectIdentifier($0)]?.transaction == transaction.number }
        }
        defer { transactions.removeAll(where: isReady) }
        return transactions.filter(isReady)
    }

    /// Reads what has changed for all that attend, at one moment, and shows it in one step.
    ///
    /// A member whose changes can't be read is shown later, when they can be.
    ///
    /// - Returns: The error with which changes could not be read.
    @discardableResult
    func show() async -> (any Error)? {
        let members = present
        let (found, failures) = (Locked<[ShownChange]>([]), Locked<[any Error]>([]))
        do {
            try await database.atOneMoment { @MainActor in
                found.withLock { $0 = [] }
                for member in members {
                    do {
                        if let change = try await member.readChanges() { found.withLock { $0.append(change) } }
                    } catch let error as StorageError where !Self.ofDatabase.contains(error.code) {
                        // Any other error is one of the moment. What the others show would be a half then.
                        failures.withLock { $0.append(error) }
                        member.catchUpSoon()
                    }
                }
            }
            ShownChange.show(found.withLock { $0 })
        } catch {
            failures.withLock { $0.append(error) }
            for member in members { member.catchUpSoon() }
        }
        return failures.withLock { $0.first }
    }

    /// The errors that are not those of one collection.
    private static let ofDatabase: Set<StorageError.Code> = [.unreachable, .timedOut, .locked, .suspended, .closed]

    /// Whether some members are all that attend the run.
    func areAll(_ members: [any SharedTurnMember]) -> Bool {
        present.allSatisfy { present in members.contains { $0 === present } }
    }
}
