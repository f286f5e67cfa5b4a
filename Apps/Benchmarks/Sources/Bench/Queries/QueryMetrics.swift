import BenchHarness
import Bodega
import Boutique
import Foundation

/// The metrics of `bench --query`.
struct QueryMetrics {
    /// The number of items.
    let count: Int

    var all: [Metric] {
        [
            Metric("query.page.first", baseline: "SQL and a record decoder", maximum: 2) { try await firstPage($0) },
            Metric("query.page.last", baseline: "our first page", maximum: 2) { try await lastPage($0) },
            Metric("query.page.related", baseline: "SQL and a record decoder", maximum: 1.5) { try await related($0) },
            Metric("query.page.referring", baseline: "SQL and a record decoder", maximum: 1.5) {
                try await referring($0)
            },
            Metric("query.remove.named", baseline: "a quarter as many, four times", maximum: 2) {
                try await removingNamed($0)
            },
            Metric("query.count", baseline: "SQL", maximum: 1.5) { try await counting($0) },
            Metric("query.window.open", baseline: "a window over 10,000 items", maximum: 1.5) { try await opening($0) },
            Metric("query.window.memory", baseline: "4 MiB", maximum: 1) { try await memory($0) },
            Metric("query.window.change", baseline: "10 ms after a commit of another process", maximum: 1) {
                try await change($0)
            },
            Metric("query.write.batch", baseline: "ours without an index", maximum: 1.3) { try await writing($0) },
        ] + largeWindow + distinctValues + indexCreation + searches
    }

    private static let middle = Date(timeIntervalSinceReferenceDate: 500_000_000)

    private static let query: Query<QueriedTask> = {
        let date = middle
        return Query(where: #Predicate { $0.dueDate >= date }, sortedBy: SortDescriptor(\.dueDate))
    }()

    private func withTasks<Result>(
        _ plan: Plan, isolation: isolated (any Actor)? = #isolation,
        _ body: (ObjectStorage<QueriedTask>, URL) async throws -> Result
    ) async throws -> Result {
        try await plan.scratch.withFolder { folder in
            let storage = try await QueriedTask.prepare(plan.size(count), in: folder)
            return try await body(storage, folder.appendingPathComponent("data.sqlite3"))
        }
    }

    private func firstPage(_ plan: Plan) async throws -> Outcome {
        try await withTasks(plan) { storage, file in
            let table = try QueriedTable(file)
            return try await compare(
                items: 50, runs: plan.runs * 20,
                ours: { try await timed { try await storage.fetch(Self.query, limit: 50) }.0 },
                baseline: {
                    let (time, tasks) = try timed { try table.tasks(from: Self.middle) }
                    try verify(
                        tasks.map(\.id), equals: try await storage.fetch(Self.query, limit: 50).objects.map(\.id),
                        "the first page")
                    return time
                })
        }
    }

    private func lastPage(_ plan: Plan) async throws -> Outcome {
        try await withTasks(plan) { storage, _ in
            let query = Query<QueriedTask>(sortedBy: SortDescriptor(\.dueDate))
            let size = plan.size(count)
            var rest = max(0, size - 50)
            var cursor: QueryCursor?
            while rest > 0 {
                let page = try await storage.fetch(query, limit: min(rest, 10_000), after: cursor)
                cursor = page.next
                rest -= page.objects.count
            }
            return try await compare(
                items: 50, runs: plan.runs * 20,
                ours: {
                    let (time, page) = try await timed { try await storage.fetch(query, limit: 50, after: cursor) }
                    try verify(page.objects.count, equals: min(50, size), "the items of the last page")
                    return time
                },
                baseline: { try await timed { try await storage.fetch(query, limit: 50) }.0 })
        }
    }

    private func counting(_ plan: Plan) async throws -> Outcome {
        try await withTasks(plan) { storage, file in
            let table = try QueriedTable(file)
            let date = Self.middle
            let query = Query<QueriedTask>(where: #Predicate { $0.dueDate < date })
            return try await compare(
                items: plan.size(count), runs: plan.runs,
                ours: {
                    let (time, count) = try await timed { try await storage.count(query) }
                    try verify(count, equals: try table.count(before: date), "the count")
                    return time
                },
                baseline: { try timed { try table.count(before: date) }.0 })
        }
    }

    private func opening(_ plan: Plan) async throws -> Outcome {
        try await withTasks(plan) { large, _ in
            try await plan.scratch.withFolder { folder in
                let small = try await QueriedTask.prepare(10_000, in: folder)
                return try await compare(
                    items: 50, runs: plan.runs * 20,
                    ours: { try await timeOfOpening(large) }, baseline: { try await timeOfOpening(small) })
            }
        }
    }

    @MainActor
    private func timeOfOpening(_ storage: ObjectStorage<QueriedTask>) async throws -> Duration {
        let (time, window) = try await timed {
            let window = LiveQuery(Self.query, in: storage, limit: 50)
            try await window.itemsHaveLoaded()
            return window
        }
        try verify(window.items.count, equals: 50, "the items of the window")
        return time
    }

    /// The memory that a window and a thousand changes take.
    @MainActor
    private func memory(_ plan: Plan) async throws -> Outcome {
        try await withTasks(plan) { storage, _ in
            // The caches of the connections are filled.
            for _ in 0..<20 { _ = try await timeOfOpening(storage) }
            let before = try ResidentMemory.now()
            let window = LiveQuery(Self.query, in: storage, limit: 50)
            try await window.itemsHaveLoaded()
            for number in 0..<1_000 {
                var task = QueriedTask(number)
                task.dueDate = Self.middle.addingTimeInterval(Double(number) / 1000)
                try await storage.store(task, forKey: task.key)
            }
            try await wait { window.items.first?.id == "task-0" }
            let after = try ResidentMemory.now()
            return Outcome(items: 50, oursBytes: max(after - before, 1), baselineBytes: 4 << 20)
        }
    }

    @MainActor
    private func change(_ plan: Plan) async throws -> Outcome {
        try await withTasks(plan) { storage, file in
            let window = LiveQuery(Self.query, in: storage, limit: 50)
            try await window.itemsHaveLoaded()
            let child = try WritingChild(file)
            defer { child.end() }
            var random = SystemRandomNumberGenerator()
            var times: [Duration] = []
            for number in 0..<plan.size(200) + 5 {
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...30, using: &random)))
                let committed = try child.write(number)
                try await wait { window.items.first?.id == WritingChild.id(number) }
                let now = FollowingChild.now
                times.append(.nanoseconds(Int64(now) - Int64(committed)))
            }
            let median = Array(times.dropFirst(5)).median
            return Outcome(items: times.count - 5, ours: max(median, .zero), baseline: .milliseconds(10))
        }
    }

    /// Waits without a pause, whose length would be measured, for 10 seconds at most.
    @MainActor
    private func wait(until condition: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(10)
        while !condition() {
            if ContinuousClock.now > end { throw VerificationFailure("the window does not show a change") }
            await Task.yield()
        }
    }

    private func writing(_ plan: Plan) async throws -> Outcome {
        let tasks = (0..<plan.size(100_000)).map(QueriedTask.init)
        let items = try tasks.map { (key: $0.key, data: try JSONObjectCoder().encode($0)) }
        func time(isIndexed: Bool) async throws -> Duration {
            try await plan.scratch.withFolder { folder in
                let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
                if isIndexed { try await ObjectStorage<QueriedTask>(storage: engine).createIndexes() }
                return try await timed { try await engine.write(items) }.0
            }
        }
        return try await compare(
            items: items.count, runs: plan.runs, ours: { try await time(isIndexed: true) },
            baseline: { try await time(isIndexed: false) })
    }
}
