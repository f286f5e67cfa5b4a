import Foundation

/// How much the randomized, repeated and combinatorial tests try.
///
/// `EMPORIUM_SIZE` chooses a column: `quick`, as `bin/test --quick` does; `usual`, the default; or `all`, which takes
/// hours. The variable of a row has precedence.
package enum TestSizes {
    /// The random nestings of wrappers that the model test checks with faults.
    package static let nestings = size("EMPORIUM_NESTINGS", quick: 4, usual: 8, all: 400)
    /// The engines in which each wrapper passes the conformance suite, random ones out of three.
    package static let wrappedEngines = size("EMPORIUM_WRAPPED_ENGINES", quick: 1, usual: 1, all: 3)
    /// The random triples of wrappers that pass the conformance suite, each in one engine.
    package static let triples = size("EMPORIUM_TRIPLES", quick: 1, usual: 3, all: 30)
    /// The steps of a comparison of an engine with a dictionary.
    package static let modelSteps = size("EMPORIUM_MODEL_STEPS", quick: 500, usual: 3_000, all: 100_000)
    /// The same for an engine in wrappers.
    package static let wrappedModelSteps = size(
        "EMPORIUM_WRAPPED_MODEL_STEPS", quick: 200, usual: 500, all: 10_000)
    /// The kills of a process that writes to an engine.
    package static let kills = size("EMPORIUM_KILLS", quick: 4, usual: 30, all: 500)
    /// The kills of a process that writes to a store.
    package static let storeKills = size("EMPORIUM_STORE_KILLS", quick: 2, usual: 12, all: 200)
    /// The transactions of each of several writers, between whose collections units move.
    package static let transfers = size("EMPORIUM_TRANSFERS", quick: 40, usual: 150, all: 2_000)
    /// How often the connection of a removal with consequences is cut, at one of its answers.
    package static let connectionCuts = size("EMPORIUM_CONNECTION_CUTS", quick: 10, usual: 40, all: 2_000)
    /// How often stores of several collections are opened while units move between them.
    package static let openings = size("EMPORIUM_OPENINGS", quick: 20, usual: 60, all: 1_000)
    /// The kills of a process in transactions of a store.
    package static let transactionKills = size("EMPORIUM_TRANSACTION_KILLS", quick: 5, usual: 30, all: 500)
    /// The suspensions of a process at random moments.
    package static let suspensions = size("EMPORIUM_SUSPENSIONS", quick: 10, usual: 50, all: 10_000)
    /// The random histories of stores that share memory or an SQLite file.
    package static let sharedStores = size("EMPORIUM_SHARED_STORES", quick: 6, usual: 20, all: 1_000)
    /// The random changes after each of which live windows are compared with a naive search.
    package static let windowChanges = size("EMPORIUM_WINDOW_CHANGES", quick: 20, usual: 60, all: 3_000)
    /// How often another engine removes and fills a collection that is observed.
    package static let refills = size("EMPORIUM_REFILLS", quick: 20, usual: 60, all: 2_000)
    /// The kills of a process that writes through wrappers, for each kind of nesting.
    package static let wrapperKills = size("EMPORIUM_WRAPPER_KILLS", quick: 2, usual: 6, all: 100)
    /// The random queries that are compared with a naive search, and the filters that jsonpath-rfc9535 evaluates. Typed
    /// queries are a tenth as many, and those in PostgreSQL a seventh.
    package static let queries = size("EMPORIUM_QUERY_CASES", quick: 400, usual: 2_000, all: 200_000)
    /// Of the planes of Unicode without letters, each n-th scalar is searched, from a random one on.
    package static let scalarStep = size("EMPORIUM_SCALAR_STEP", quick: 64, usual: 16, all: 1)
    /// The stops and kills of a process that writes to the file of several windows.
    package static let windowFaults = size("EMPORIUM_WINDOW_FAULTS", quick: 15, usual: 60, all: 2_000)
    /// The indexes that are created beside random statements.
    package static let indexBuilds = size("EMPORIUM_INDEX_BUILDS", quick: 20, usual: 100, all: 10_000)
    /// The databases with random references from which items are removed.
    package static let references = size("EMPORIUM_REFERENCES", quick: 60, usual: 100, all: 20_000)
    /// The groups of devices with references that are synchronized after random changes.
    package static let referenceSyncs = size("EMPORIUM_REFERENCE_SYNCS", quick: 5, usual: 30, all: 5_000)
    /// The groups of devices that are synchronized with a service over a network that loses requests.
    package static let serviceSyncs = size("EMPORIUM_SERVICE_SYNCS", quick: 3, usual: 20, all: 2_000)
    /// The simulated synchronizations.
    package static let simulations = size("EMPORIUM_SIMULATIONS", quick: 200, usual: 2_000, all: 100_000)
    /// The items that go with one that is removed.
    package static let children = size("EMPORIUM_CHILDREN", quick: 3_000, usual: 20_000, all: 100_000)
    /// The random histories of records in memory; a tenth as many in each other engine.
    package static let recordHistories = size("EMPORIUM_RECORD_HISTORIES", quick: 20, usual: 60, all: 3_000)
    /// The mutated documents that the record coder and Foundation decode.
    package static let mutations = size("EMPORIUM_MUTATIONS", quick: 2_000, usual: 20_000, all: 10_000_000)
    /// The random items of each test of merges.
    package static let merges = size("EMPORIUM_MERGES", quick: 300, usual: 2_000, all: 1_000_000)
    /// The edits of items by several versions of a program.
    package static let versionedEdits = size(
        "EMPORIUM_VERSIONED_EDITS", quick: 500, usual: 5_000, all: 1_000_000)
    /// The items that are encrypted again while they are in use.
    package static let rotatedItems = size("EMPORIUM_ITEMS", quick: 500, usual: 2_000, all: 100_000)
    /// The increments of a value in PostgreSQL by each of two processes.
    package static let increments = size("EMPORIUM_INCREMENTS", quick: 100, usual: 1_000, all: 100_000)
    /// The operations after which a cache must be within its limits.
    package static let cacheOperations = size(
        "EMPORIUM_CACHE_OPERATIONS", quick: 30_000, usual: 100_000, all: 3_000_000)

    private static let checkStep = size("EMPORIUM_CHECK_STEP", quick: 5, usual: 3, all: 1)

    /// Each fifth or third of the conformance checks, from a random one on, for engines that are made of those that
    /// pass all.
    package static func sample<Check>(_ checks: [Check]) -> [Check] {
        let first = Int(Seed.current % UInt64(checkStep))
        return stride(from: first, to: checks.count, by: checkStep).map { checks[$0] }
    }

    /// The checks that run: all of them without the thread sanitizer.
    package static func sanitized<Check>(_ checks: [Check]) -> [Check] {
        ThreadSanitizer.isThere ? sample(checks) : checks
    }

    /// Whether streams have the largest items that the engines support: a gibibyte on disk.
    package static let haveLargestItems = size("EMPORIUM_LARGE_ITEMS", quick: 0, usual: 0, all: 1) == 1

    /// The slice of all ordered triples of wrappers, in every engine, that pass the conformance suite instead of a
    /// sample: `1` for all, `3/10` for every tenth, beginning with the third; `nil` for a sample. All take about an
    /// hour.
    package static let slice = ProcessInfo.processInfo.environment["EMPORIUM_ALL_WRAPPERS"]

    private static func size(_ variable: String, quick: Int, usual: Int, all: Int) -> Int {
        let environment = ProcessInfo.processInfo.environment
        if let own = environment[variable] {
            guard let number = Int(own), number >= 0 else { preconditionFailure("\(variable) is not a number: \(own)") }
            return number
        }
        switch environment["EMPORIUM_SIZE"] ?? "usual" {
        case "quick": return quick
        case "usual": return usual
        case "all": return all
        case let other: preconditionFailure("EMPORIUM_SIZE is neither quick, usual nor all: \(other)")
        }
    }
}
