import Bodega
import BodegaTesting
import CodableStoreKit
import Dispatch
import Foundation
import GRDB
import TestSupport

/// Moves units at random, checks their sum in each transaction, and prints the name of each receipt.
///
/// Arguments: path, prefix of the receipts, seed, number of moves, 0 for no end.
func moveUnits(_ arguments: [String]) throws {
    let folder = FileManager.Directory(url: URL(fileURLWithPath: arguments[0]))
    let stores = UnitStores(.sqlite(in: folder))
    var random = SeededGenerator(seed: UInt64(arguments[2]) ?? 0)
    let moves = Int(arguments[3]) ?? 0
    for number in 0..<(moves == 0 ? Int.max : moves) {
        let (purse, chest) = ("\(Int.random(in: 0..<3, using: &random))", "\(Int.random(in: 0..<3, using: &random))")
        let receipt = "\(arguments[1])-\(number)"
        let sum = try stores.move(
            Int.random(in: -5...5, using: &random), purse: purse, chest: chest, receipt: receipt)
        if sum != 100 { say("wrong sum \(sum)") }
        say(receipt)
    }
    say("done")
}

/// Suspends the storage during transactions, and prints what becomes of each: the rows that another program then finds
/// in the table of chests, and the error.
///
/// Arguments: path, number of transactions.
func suspendTransactions(_ arguments: [String]) async throws {
    let folder = URL(fileURLWithPath: arguments[0])
    let stores = UnitStores(.sqlite(in: FileManager.Directory(url: folder)))
    try stores.chests.save(Chest(id: "first", units: 1))
    for round in 0..<(Int(arguments[1]) ?? 0) {
        let isInside = AsyncStream.makeStream(of: Void.self)
        async let outcome = transact(in: stores, swallowing: round.isMultiple(of: 2)) { isInside.continuation.finish() }
        for await _ in isInside.stream {}
        await StorageSuspension.suspend()
        let queue = try DatabaseQueue(path: folder.appendingPathComponent("CodableStoreKit.sqlite3").path)
        let rows = try await queue.write { try Int.fetchOne($0, sql: "SELECT count(*) FROM emporium_collection_1") }
        try queue.close()
        StorageSuspension.resume()
        say("\(rows ?? -1) \(await outcome)")
    }
    try stores.purses.transaction {
        try stores.purses.save(Purse(id: "last", units: 1))
        try stores.chests.delete(identifier: "first")
    }
    say("\(try stores.purses.getCollection().count) \(try stores.chests.getCollection().count)")
}

/// Saves objects in a transaction until that fails.
private func transact(
    in stores: UnitStores, swallowing: Bool, _ begun: @escaping @Sendable () -> Void
) async -> String {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            do {
                try stores.chests.transaction {
                    do {
                        for number in 0... {
                            try stores.chests.save(Chest(id: "\(number)", units: 1))
                            if number == 3 { begun() }
                        }
                    } catch  where swallowing {
                        // The transaction must fail nevertheless.
                    }
                }
                continuation.resume(returning: "committed")
            } catch {
                continuation.resume(returning: "\((error as? StorageError)?.code.rawValue ?? "\(error)")")
            }
        }
    }
}
