import Foundation
import Logging

/// Reports the changes that are committed through one ``SQLiteFile`` to observers, in the order of the commits.
///
/// 1. A collection registers an observer, on any thread.
/// 2. When a change is about to be applied, ``needsEffects(of:)`` determines whether another collection observes its
///    table. If so, the file determines the effects of the change first.
/// 3. When the change is committed, ``post(_:_:effects:)`` notes its rows in the log for each observer of the table,
///    and calls the observers of other collections.
/// 4. An observer that reads the log calls ``takeReported(of:by:)`` to learn which of the changes step 3 has reported.
///
/// Steps 2 to 4 run on the writing connection, one at a time, so no commit comes between them. An observer must return
/// quickly, because the next commit waits for it. `state` guards the observers; it is not locked while they are called.
final class SQLiteCommitObservers: Sendable {

    /// Receives a commit's effects, with the data of removed items. Finding them slows other collections' commits.
    typealias Observer = @Sendable ([SQLiteEffect]) -> Void

    private struct Entry: Sendable {
        let number: Int
        /// The collection that observes.
        let writer: ObjectIdentifier
        let observer: Observer
        /// The numbers of the log's rows that were reported, since they were last taken.
        var reported = IndexSet()
    }

    private struct State: Sendable {
        /// By the names of the tables.
        var entries: [String: [Entry]] = [:]
        var lastNumber = 0
    }

    private let state = Locked(State())

    /// Adds an observer of the changes of a collection from now on.
    ///
    /// - Parameters:
    ///   - table: The collection's table.
    ///   - writer: The writer whose own changes are not reported.
    ///   - observer: The observer.
    /// - Returns: A number to remove the observer by.
    func add(to table: SQLiteTable, excluding writer: ObjectIdentifier, _ observer: @escaping Observer) -> Int {
        state.withLock { state in
            state.lastNumber += 1
            let entry = Entry(number: state.lastNumber, writer: writer, observer: observer)
            state.entries[table.name, default: []].append(entry)
            return state.lastNumber
        }
    }

    /// Removes an observer.
    func remove(from table: SQLiteTable, _ number: Int) {
        state.withLock { state in
            state.entries[table.name]?.removeAll { $0.number == number }
            if state.entries[table.name]?.isEmpty == true { state.entries[table.name] = nil }
        }
    }

    /// Whether an observer needs the effects of a change.
    func needsEffects(of change: SQLiteChange) -> Bool {
        state.withLock { $0.entries[change.table.name]?.contains { $0.writer != change.writer } ?? false }
    }

    /// Reports a committed change.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - span: Its part of the log, `nil` if there is no log.
    ///   - effects: Its effects. If no observer needed them at the time, newer ones receive only its written items.
    func post(_ change: SQLiteChange, _ span: SQLiteLog.Span?, effects: [SQLiteEffect]?) {
        let observers = state.withLock { state -> [Observer] in
            guard let entries = state.entries[change.table.name] else { return [] }
            if let span, span.before.number < span.after.number {
                let numbers = span.before.number + 1...span.after.number
                for index in entries.indices {
                    state.entries[change.table.name]?[index].reported.insert(integersIn: numbers)
                }
            }
            return entries.filter { $0.writer != change.writer }.map(\.observer)
        }
        if observers.isEmpty { return }
        do {
            let effects = try effects ?? change.operations().compactMap(\.writtenEffect)
            for observer in observers { observer(effects) }
        } catch {
            bodegaLogger.error(
                "Observers were not notified of a large item, which could not be read again.",
                metadata: ["error": "\(error)"])
        }
    }

    /// The numbers of the log's rows that were reported to a writer, or written by it, since they were last taken.
    func takeReported(of table: SQLiteTable, by writer: ObjectIdentifier) -> IndexSet {
        state.withLock { state in
            var reported = IndexSet()
            for (index, entry) in (state.entries[table.name] ?? []).enumerated() where entry.writer == writer {
                reported.formUnion(entry.reported)
                state.entries[table.name]?[index].reported = []
            }
            return reported
        }
    }
}

extension StorageOperation {
    fileprivate var writtenEffect: SQLiteEffect? {
        if case .write(let key, let data) = self { .written(key, data) } else { nil }
    }
}
