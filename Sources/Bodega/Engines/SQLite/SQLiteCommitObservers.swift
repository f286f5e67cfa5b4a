import Foundation

/// Tells of changes that were committed through one ``SQLiteFile``, in the order of the commits.
///
/// Whoever follows is told on the thread that commits, which has the writing connection: it must only take note.
final class SQLiteCommitObservers: Sendable {

    /// Is told what each commit came to, with the data of removed items. It costs the commits of others a look at these.
    typealias Follower = @Sendable ([SQLiteEffect]) -> Void

    private struct Entry: Sendable {
        let number: Int
        let origin: ObjectIdentifier
        let follower: Follower
    }

    private struct State: Sendable {
        var entries: [String: [Entry]] = [:]
        var lastNumber = 0
    }

    private let state = Locked(State())

    /// Adds a follower of the changes of a collection from now on.
    ///
    /// - Parameters:
    ///   - table: The collection's table.
    ///   - origin: Whose changes are left out.
    ///   - follower: What is told.
    /// - Returns: A number to remove the follower by.
    func follow(_ table: SQLiteTable, excluding origin: ObjectIdentifier, _ follower: @escaping Follower) -> Int {
        state.withLock { state in
            state.lastNumber += 1
            let entry = Entry(number: state.lastNumber, origin: origin, follower: follower)
            state.entries[table.name, default: []].append(entry)
            return state.lastNumber
        }
    }

    /// Removes a follower.
    func unfollow(_ table: SQLiteTable, _ number: Int) {
        state.withLock { state in
            state.entries[table.name]?.removeAll { $0.number == number }
            if state.entries[table.name]?.isEmpty == true { state.entries[table.name] = nil }
        }
    }

    /// Whether somebody wants to know what a change comes to.
    func needsEffects(of change: SQLiteChange) -> Bool {
        !followers(of: change).isEmpty
    }

    /// Tells of a change that was committed.
    ///
    /// - Parameter effects: What it came to. If nobody wanted to know when it began, those who do now are told of the
    ///   written items only.
    func post(_ change: SQLiteChange, effects: [SQLiteEffect]? = nil) {
        let followers = followers(of: change)
        if followers.isEmpty { return }
        let effects = effects ?? change.operations().compactMap(\.writtenEffect)
        for tell in followers { tell(effects) }
    }

    private func followers(of change: SQLiteChange) -> [Follower] {
        state.withLock { state in
            if state.entries.isEmpty { return [] }
            return state.entries[change.table.name]?.filter { $0.origin != change.origin }.map(\.follower) ?? []
        }
    }
}

extension StorageOperation {
    fileprivate var writtenEffect: SQLiteEffect? {
        if case .write(let key, let data) = self { .written(key, data) } else { nil }
    }
}
