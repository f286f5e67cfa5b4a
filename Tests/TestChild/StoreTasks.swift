import Bodega
import Boutique
import Foundation

/// An item of the store in the child process.
struct Account: Codable, Sendable, Identifiable {
    var id: String
    var balance = 0
    /// Long, so that a torn record is detected.
    var text = ""
}

/// Changes a store from several tasks, and prints acknowledged changes.
///
/// Each task adds accounts, and moves money between two accounts of its own that exist from the beginning, so that
/// their sum never changes.
///
/// Arguments: engine, path, durability, prefix of the identifiers.
@MainActor
func changeStore(_ arguments: [String]) async throws {
    let durability: StorageDurability = arguments[2] == "full" ? .full : .relaxed
    let engine = try open(arguments[0], arguments[1], durability)
    let store = try await Store<Account>(storage: engine)
    let tasks = (0..<4).map { writer in
        Task {
            try await store.insert(
                ["left", "right"].map { Account(id: "\($0)-\(writer)") }.filter { !store.contains(id: $0.id) })
            for number in 0... {
                let id = "\(arguments[3])-\(writer)-\(number)"
                try await store.insert(Account(id: id, text: String(repeating: id, count: 50)))
                say("inserted \(id)")
                try await store.transaction { accounts in
                    try accounts.update(id: "left-\(writer)") { $0.balance -= number }
                    try accounts.update(id: "right-\(writer)") { $0.balance += number }
                }
                if number.isMultiple(of: 3) {
                    try await store
                        .remove(id: id)
                        .insert(Account(id: "\(id)-again", text: String(repeating: id, count: 50)))
                        .run()
                    say("replaced \(id)")
                }
            }
        }
    }
    for task in tasks { try await task.value }
}
