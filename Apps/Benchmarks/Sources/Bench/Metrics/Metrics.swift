import BenchHarness

/// All metrics of `bench` in the order of the table.
enum Metrics {
    static let all: [Metric] =
        opening + starting + sqliteBatches + sqliteSingles + sqliteDurable + transactions + disk + keys + coder
        + objects + store
        + codableStore + values + scale + wrappers + wrapperWrites + wrappedStores + caches + memory + feed
}
