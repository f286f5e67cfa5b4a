import Foundation

/// How much the tests of the server in other processes try, in the columns of `Tests/TestSupport/TestSizes.swift`.
enum TestSizes {
    /// The numbers of clients that synchronize, one for each run.
    static let syncClients = size("EMPORIUM_SYNC_CLIENTS", quick: [2], usual: [3], all: [5, 10])
    /// The seconds for which they change items, while faults are injected.
    static let syncSeconds = size("EMPORIUM_SYNC_SECONDS", quick: [5], usual: [8], all: [100])[0]
    /// The maximum number of transactions of each client per second. Some make a quarter of it.
    static let syncRate = size("EMPORIUM_SYNC_RATE", quick: [40], usual: [40], all: [40])[0]

    private static func size(_ variable: String, quick: [Int], usual: [Int], all: [Int]) -> [Int] {
        let environment = ProcessInfo.processInfo.environment
        if let own = environment[variable] {
            guard let number = Int(own), number > 0 else { preconditionFailure("\(variable) is not a number: \(own)") }
            return [number]
        }
        switch environment["EMPORIUM_SIZE"] ?? "usual" {
        case "quick": return quick
        case "usual": return usual
        case "all": return all
        case let other: preconditionFailure("EMPORIUM_SIZE is neither quick, usual nor all: \(other)")
        }
    }
}
