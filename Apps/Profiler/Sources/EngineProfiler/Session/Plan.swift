import Foundation

/// The plan of a run.
struct Plan: Sendable {
    /// The engines.
    var subjects: [Subject]
    /// The operations, in the order in which they are measured.
    var operations: [Operation]
    /// The numbers of items.
    var sizes: [Int]
    /// The size of a value in bytes.
    var valueBytes: Int
    /// The number of items in a batch.
    var batch: Int
    /// The number of concurrent workers.
    var concurrency: Int
    /// The amount of measuring for each operation.
    var budget: Budget
    /// The durability of a finished write, for the engines that have this option.
    var durability: Durability
    /// The seed of the items and of their order.
    var seed: UInt64
    /// Whether the user chose small sizes and times.
    var isQuick: Bool

    /// The plan in the form of the results.
    var settings: Settings {
        var settings = Settings(
            sizes: sizes, valueBytes: valueBytes, batch: batch, concurrency: concurrency, seconds: nil,
            repetitions: nil, durability: durability, seed: seed, isQuick: isQuick
        )
        switch budget {
        case .time(let duration): settings.seconds = Double(duration.nanoseconds) / 1e9
        case .calls(let calls): settings.repetitions = calls
        }
        return settings
    }
}
