import Bodega
import Foundation

/// A history of concurrent writes and reads of some keys, which checks that each read is consistent with the writes.
///
/// A write takes effect at one moment between its call and its return. If it threw, it may not have taken effect. All
/// values differ, so a read identifies the write that it saw. Time is a counter, which the begins and ends of
/// operations advance.
package final class RegisterHistory: Sendable {

    private enum Outcome: CustomStringConvertible {
        case returned
        case threw(String)

        var description: String {
            switch self {
            case .returned: "returned"
            case .threw(let error): "threw \(error)"
            }
        }
    }

    private struct Write {
        var value: String?
        var began: Int
        var ended: Int
        var outcome: Outcome
        /// The time of the end, for comparison with logs.
        var date = Date()
    }

    private struct Read {
        var value: String?
        var began: Int
        var ended: Int
    }

    private struct Register {
        /// The first write stands for the absence of a value.
        var writes = [Write(value: nil, began: -1, ended: -1, outcome: .returned)]
        var reads: [Read] = []
    }

    private struct State {
        var time = 0
        var registers: [String: Register] = [:]
        /// For each writer, the writes that may still be applied, and when they threw.
        var open: [Int: [(key: String, place: Int, threw: Int)]] = [:]
        var ended = 0
        var thrown = 0

        /// Records that writes that threw before a moment can no longer be applied.
        mutating func close(before moment: Int, by writer: Int, at time: Int) {
            for (key, place, threw) in open[writer] ?? [] where threw < moment {
                registers[key]?.writes[place].ended = time
            }
            open[writer]?.removeAll { $0.threw < moment }
        }
    }

    private let state = Locked(State())

    package init() {}

    /// The number of completed operations.
    package var count: Int { state.withLock { $0.ended } }

    /// The number of operations that threw.
    package var thrownCount: Int { state.withLock { $0.thrown } }

    /// Writes values, or removes keys whose value is `nil`, and records the outcome.
    ///
    /// - Parameters:
    ///   - values: The keys and their values. Each value is written only once.
    ///   - writer: The writer. Writes of one writer are in order.
    ///   - mayComeLate: Whether an error means that the write may still be applied, before the writer's next one.
    ///   - body: Performs all writes.
    /// - Returns: The error that the body threw.
    @discardableResult
    package func write(
        _ values: [String: String?],
        by writer: Int = 0,
        mayComeLate: (any Error) -> Bool = { _ in false },
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Void
    ) async -> (any Error)? {
        let began = tick()
        var failure: (any Error)?
        var outcome = Outcome.returned
        do {
            try await body()
        } catch {
            failure = error
            outcome = .threw((error as? StorageError).map { "\($0.code): \($0.message)" } ?? "\(error)")
        }
        let ended = tick()
        let isOpen = failure.map(mayComeLate) ?? false
        state.withLock { [outcome] state in
            for (key, value) in values {
                let write = Write(value: value, began: began, ended: isOpen ? .max : ended, outcome: outcome)
                let place = state.registers[key, default: Register()].writes.count
                state.registers[key, default: Register()].writes.append(write)
                if isOpen { state.open[writer, default: []].append((key, place, ended)) }
            }
            if failure == nil { state.close(before: began, by: writer, at: ended) }
            state.ended += 1
            if failure != nil { state.thrown += 1 }
        }
        return failure
    }

    /// Reads a value, and records it unless the read threw.
    @discardableResult
    package func read(
        _ key: String,
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> String?
    ) async -> (any Error)? {
        let began = tick()
        let result: Result<String?, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        let ended = tick()
        return state.withLock { state in
            state.ended += 1
            switch result {
            case .success(let value):
                state.registers[key, default: Register()].reads.append(Read(value: value, began: began, ended: ended))
                return nil
            case .failure(let error):
                state.thrown += 1
                return error
            }
        }
    }

    /// Reads all keys at one moment, and records the values unless the read threw.
    ///
    /// - Parameter body: Returns the values by key.
    package func readAll(
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> [String: String]
    ) async throws {
        let began = tick()
        let values = try await body()
        let ended = tick()
        state.withLock { state in
            for key in Set(state.registers.keys).union(values.keys) {
                let read = Read(value: values[key], began: began, ended: ended)
                state.registers[key, default: Register()].reads.append(read)
            }
        }
    }

    private func tick() -> Int {
        state.withLock { state in
            state.time += 1
            return state.time
        }
    }

    /// The violations: reads of values that were never written, that had been overwritten, or that appeared after their
    /// write had ended.
    package func violations() -> [String] {
        state.withLock(\.registers).sorted { $0.key < $1.key }.flatMap { key, register in
            register.reads.sorted { $0.began < $1.began }.compactMap { read in
                Self.problem(of: read, in: register).map { "\(key): \($0)" }
            }
        }
    }

    private static func problem(of read: Read, in register: Register) -> String? {
        let shown = "a read at \(read.began)…\(read.ended) shows \(described(read.value))"
        var latest: String?
        for write in register.writes where write.value == read.value && write.began < read.ended {
            guard let problem = problem(of: read, ofWhat: write, in: register) else { return nil }
            latest =
                """
                of \(write.began)…\(write.ended) \
                (\(write.date.formatted(.iso8601.time(includingFractionalSeconds: true)))), which \(write.outcome), \
                \(problem)
                """
        }
        return "\(shown) \(latest ?? "that no writer had written")"
    }

    /// The reason why a read can't have seen a write.
    private static func problem(of read: Read, ofWhat write: Write, in register: Register) -> String? {
        for other in register.writes where write.ended < other.began {
            let name =
                """
                \(described(other.value)) of \(other.began)…\(other.ended) \
                (\(other.date.formatted(.iso8601.time(includingFractionalSeconds: true))))
                """
            if case .returned = other.outcome, other.ended < read.began { return "though \(name) had returned" }
            // Removals are indistinguishable, so another read doesn't identify the one that it saw.
            guard let value = other.value else { continue }
            if register.reads.contains(where: { $0.value == value && $0.ended < read.began }) {
                return "though \(name) had been read"
            }
        }
        let before = register.reads.first {
            write.ended < $0.began && $0.ended < read.began && $0.value != read.value
        }
        return before.map { "though \(described($0.value)) had been read at \($0.began)…\($0.ended)" }
    }

    private static func described(_ value: String?) -> String {
        value.map { "\"\($0)\"" } ?? "nothing"
    }
}
