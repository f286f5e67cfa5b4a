import BenchHarness

/// All metrics of `bench` in the order of the table.
enum Metrics {
    static let all: [Metric] =
<<<<<<< HEAD:Apps/Benchmarks/Sources/Bench/Metrics/Metrics.swift
        opening + sqliteBatches + sqliteSingles + sqliteDurable + disk + keys + coder + objects + store + codableStore
        + values
        + scale
=======
        opening + starting + sqliteBatches + sqliteSingles + sqliteDurable + disk + keys + coder + objects + store
        + codableStore + scale
>>>>>>> bacb9699 (Compare starts with what Bodega 2 and Boutique 2 do, and take medians of single openings):Benchmarks/Sources/Bench/Metrics/Metrics.swift
        + wrappers + wrapperWrites + caches + memory + feed
}
