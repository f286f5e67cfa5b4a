import BenchHarness
import Bodega
import Boutique
import Foundation

/// The metrics of windows with many rows.
extension QueryMetrics {
    static let rows = 20_000

    var largeWindow: [Metric] {
        [
            Metric("query.window.change.20000", baseline: "the change in a window of 50", maximum: 3) {
                try await changing($0)
            },
            Metric("query.window.show.20000", baseline: "1 ms of the main actor", maximum: 1) {
                try await showing($0)
            },
            Metric("query.window.reorder.20000", baseline: "50 ms of the main actor", maximum: 1) {
                try await reordering($0)
            },
        ]
    }

    /// The time from a write of one item until a window has moved it.
    @MainActor
    private func changing(_ plan: Plan) async throws -> Outcome {
        let large = try await Shown(rows: Self.rows, limit: Self.rows)
        let small = try await Shown(rows: Self.rows, limit: 50)
        return try await compare(
            items: 1, runs: plan.runs * 20, ours: { try await large.change().total },
            baseline: { try await small.change().total })
    }

    /// The time that the main actor takes to show one moved item.
    @MainActor
    private func showing(_ plan: Plan) async throws -> Outcome {
        let window = try await Shown(rows: Self.rows, limit: Self.rows)
        return try await compare(
            items: 1, runs: plan.runs * 20, ours: { try await window.change().onMainActor },
            baseline: { .milliseconds(1) })
    }

    /// The time that the main actor takes to show all items in the reverse order.
    @MainActor
    private func reordering(_ plan: Plan) async throws -> Outcome {
        let window = try await Shown(rows: Self.rows, limit: Self.rows)
        return try await compare(
            items: Self.rows, runs: plan.runs * 2, ours: { try await window.reverse().onMainActor },
            baseline: { .milliseconds(50) })
    }
}

/// A window with the times that its changes take.
@MainActor
private final class Shown {
    private let storage = ObjectStorage<QueriedTask>(storage: MemoryStorageEngine())
    private let window: LiveQuery<QueriedTask>
    private var isReversed = false
    private var (first, changes): (QueriedTask?, Int) = (nil, 0)
    private var times: (announced: ContinuousClock.Instant, published: ContinuousClock.Instant)
    private var subscriptions: [AnyCancellable] = []

    init(rows: Int, limit: Int) async throws {
        let tasks = (0..<rows).map(QueriedTask.init)
        try await storage.store(tasks.map { ($0.key, $0) })
        window = LiveQuery(Query(sortedBy: SortDescriptor(\.dueDate)), in: storage, limit: limit)
        times = (.now, .now)
        try await window.itemsHaveLoaded()
        window.objectWillChange.sink { [unowned self] in times.announced = .now }.store(in: &subscriptions)
        window.$items.sink { [unowned self] _ in
            times.published = .now
            changes += 1
        }
        .store(in: &subscriptions)
    }

    /// Moves the first item to the 25th place.
    func change() async throws -> (total: Duration, onMainActor: Duration) {
        let (number, start) = (changes, ContinuousClock.now)
        var task = window.items[0]
        task.dueDate = window.items[24].dueDate.addingTimeInterval(0.000_1)
        try await storage.store(task, forKey: task.key)
        while changes == number { await Task.yield() }
        try verify(window.items[24].id, equals: task.id, "the moved task")
        return (times.published - start, times.published - times.announced)
    }

    func reverse() async throws -> (total: Duration, onMainActor: Duration) {
        let (number, start, last) = (changes, ContinuousClock.now, window.items.last?.id)
        isReversed.toggle()
        try await window.change(to: Query(sortedBy: SortDescriptor(\.dueDate, order: isReversed ? .reverse : .forward)))
        while changes == number { await Task.yield() }
        try verify(window.items.first?.id, equals: last, "the first task")
        return (times.published - start, times.published - times.announced)
    }
}
