import Foundation

/// What is to be profiled, and how.
struct Plan: Sendable {
    /// The engines.
    var subjects: [Subject]
    /// The operations, in the order in which they are measured.
    var operations: [Operation]
    /// The numbers of items.
    var sizes: [Int]
    /// How many bytes a value has.
    var valueBytes: Int
    /// How many items a call for several handles.
    var batch: Int
    /// How many workers make calls at the same time.
    var concurrency: Int
    /// How much each operation is measured.
    var budget: Budget
    /// What a finished write has survived, for the engines that have a choice.
    var durability: Durability
    /// What the items and their order follow from.
    var seed: UInt64
    /// Whether the user asked for small sizes and times.
    var isQuick: Bool

    /// The plan as it is kept with the results.
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
