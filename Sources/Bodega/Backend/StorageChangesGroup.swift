/// Requests for the changes of several collections that an engine on a server sends as one.
///
/// 1. The group passes the first log its request, with itself as the group. The log is that of an engine that may be
///    wrapped.
/// 2. The wrappers do what they always do with a request, and pass the group on with it. The innermost log calls
///    ``join(_:_:)`` instead of sending the request.
/// 3. That call keeps the request, and passes the next log its one. So the calls are nested, in one task.
/// 4. The last log's call has all requests, and sends them.
/// 5. Each call returns its answer, or throws, and the wrappers finish.
///
/// The calls are in one task, so `state` is never contended.
package final class StorageChangesGroup: Sendable {
    package typealias Answer = StorageAnswer<StorageDelta?>
    package typealias Part = (collection: String, request: ChangesRequest)

    private struct State {
        /// The number of the member whose request was passed on last.
        var member = 0
        var parts: [Part] = []
        /// The answers to the parts, once they are sent.
        var received: [Answer] = []
        /// The answers of the members, the last one first.
        var answers: [Answer] = []
    }

    private let members: [(log: any StorageLog, request: ChangesRequest)]
    private let send: @Sendable ([Part]) async throws -> [Answer]
    private let state = Locked(State())

    private init(
        _ members: [(log: any StorageLog, request: ChangesRequest)],
        _ send: @escaping @Sendable ([Part]) async throws -> [Answer]
    ) {
        (self.members, self.send) = (members, send)
    }

    /// Reads the changes of several logs.
    ///
    /// - Parameters:
    ///   - members: The logs and the requests to them.
    ///   - send: Sends the requests that the innermost logs have got, and returns an answer for each.
    package static func fetch(
        _ members: [(log: any StorageLog, request: ChangesRequest)],
        _ send: @escaping @Sendable ([Part]) async throws -> [Answer]
    ) async throws -> [Answer] {
        if members.isEmpty { return [] }
        let group = StorageChangesGroup(members, send)
        do {
            try await group.pass(to: 0)
        } catch let error as StorageGroupError {
            throw error.cause
        }
        return group.state.withLock { $0.answers.reversed() }
    }

    /// Passes a member its request.
    private func pass(to number: Int) async throws {
        state.withLock { $0.member = number }
        var (log, request) = members[number]
        request.group = self
        let answer = try await log.fetchChanges(request)
        try state.withLock { state in
            // Otherwise its request was not one of the others, or not the only one.
            guard state.received.count == members.count else { throw StorageError.notTogether }
            // Those after it belong to an attempt that has failed.
            state.answers.removeLast(max(0, state.answers.count - (members.count - 1 - number)))
            state.answers.append(answer)
        }
    }

    /// Adds a request to the group instead of sending it, and returns when the group is sent.
    package func join(_ collection: String, _ request: ChangesRequest) async throws -> Answer {
        let (number, parts) = try state.withLock { state in
            guard state.received.isEmpty else { throw StorageError.notTogether }
            let number = state.member
            // Those after it belong to an attempt that has failed.
            state.parts.removeSubrange(min(number, state.parts.count)...)
            var part = (collection: collection, request: request)
            part.request.group = nil
            state.parts.append(part)
            return (number, state.parts)
        }
        if parts.count < members.count {
            do {
                try await pass(to: number + 1)
            } catch {
                state.withLock { $0.member = number }
                throw error as? StorageGroupError ?? StorageGroupError(cause: error)
            }
        } else {
            let answers = try await send(parts)
            state.withLock { $0.received = answers }
        }
        return state.withLock { $0.received[number] }
    }
}

extension StorageChangesGroup: Hashable {
    package static func == (left: StorageChangesGroup, right: StorageChangesGroup) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension StorageError {
    fileprivate static let notTogether = StorageError(
        .invalidArgument,
        "A wrapper has not passed on its request for changes, or more than once, so it can't be read with others.")
}
