import BenchHarness
import Boutique
import Foundation

extension Metrics {
    static let values = [
        Metric("value.set", baseline: "UserDefaults.set of JSONEncoder's data", maximum: 3.5) { plan in
            try await setValue(plan) { try timed($0).time }
        },
        Metric("value.set.processor", baseline: "the same, in processor time", maximum: 4) { plan in
            try await setValue(plan, processorTime)
        },
        Metric("value.get", baseline: "UserDefaults.data, decoded by JSONDecoder", maximum: 0.45) { plan in
            try await getValue(plan)
        },
    ]

    /// The JSON that Boutique stores.
    private struct Envelope: Codable {
        var value: Int
    }

    /// Sets a value without observers several times.
    private static func setValue(
        _ plan: Plan, _ measured: @escaping @Sendable (() throws -> Void) throws -> Duration
    ) async throws -> Outcome {
        let count = plan.size(10_000)
        return try await withDefaults(plan) { defaults in
            let value = StoredValue(key: "ours", default: 0, storage: defaults)
            let encoder = JSONEncoder()
            let decoder = JSONDecoder()
            var (ours, baseline) = (0, 0)
            return try await compare(
                items: count,
                runs: plan.runs,
                ours: {
                    let time = try measured {
                        for _ in 0..<count {
                            ours += 1
                            value.set(ours)
                        }
                    }
                    try verify(value.wrappedValue, equals: ours, "the value set last")
                    try verify(value.lastError == nil, equals: true, "the absence of errors")
                    return time
                },
                baseline: {
                    let time = try measured {
                        for _ in 0..<count {
                            baseline += 1
                            defaults.set(try encoder.encode(Envelope(value: baseline)), forKey: "baseline")
                        }
                    }
                    let data = defaults.data(forKey: "baseline") ?? Data()
                    try verify(
                        try decoder.decode(Envelope.self, from: data).value, equals: baseline,
                        "the baseline's value set last")
                    return time
                }
            )
        }
    }

    private static func getValue(_ plan: Plan) async throws -> Outcome {
        let count = plan.size(20_000)
        return try await withDefaults(plan) { defaults in
            let value = StoredValue(key: "key", default: 0, storage: defaults)
            value.set(3)
            let decoder = JSONDecoder()
            return try await compare(
                items: count,
                runs: plan.runs,
                ours: {
                    let (time, sum) = timed { (0..<count).reduce(0) { sum, _ in sum + value.wrappedValue } }
                    try verify(sum, equals: 3 * count, "the sum of the values read")
                    return time
                },
                baseline: {
                    let (time, sum) = try timed {
                        try (0..<count).reduce(0) { sum, _ in
                            let data = defaults.data(forKey: "key") ?? Data()
                            return sum + (try decoder.decode(Envelope.self, from: data).value)
                        }
                    }
                    try verify(sum, equals: 3 * count, "the sum of the baseline's values read")
                    return time
                }
            )
        }
    }

    /// Calls a closure with a new suite of user defaults. Its files are in the session's folder where the environment
    /// decides that, so they are removed with it.
    private static func withDefaults(
        _ plan: Plan, _ work: (UserDefaults) async throws -> Outcome
    ) async throws -> Outcome {
        let suite = "bench-\(UUID().uuidString)"
        for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME"] { setenv(name, plan.scratch.url.path, 1) }
        guard let defaults = UserDefaults(suiteName: suite) else {
            throw VerificationFailure("a suite of user defaults could not be opened")
        }
        let outcome = try await work(defaults)
        defaults.removePersistentDomain(forName: suite)
        return outcome
    }

    /// The processor time of a piece of work, on all threads of the process.
    private static func processorTime(_ work: () throws -> Void) throws -> Duration {
        let start = try ProcessorTime.ofProcess()
        try work()
        return try ProcessorTime.ofProcess() - start
    }
}
