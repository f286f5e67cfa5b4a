#if Server
import Bodega
import Foundation

/// Tokens that were read from their collection a short time ago, so that not each request reads its token.
///
/// A token that was removed must not stay known: ``forget()`` is called after each change of the collection, and a read
/// that has begun before it is not kept. Where changes are signaled late, or not at all, a token is read again after
/// half a second.
final class KnownTokens: Sendable {
    /// A token, and the client that bears it.
    struct Known: Sendable {
        let token: AccessToken
        let client: StorageClient
        let moment: Date
        /// Whether a request is reading the token again.
        var isRenewed = false
    }

    private struct State {
        var known: [ExactText: Known] = [:]
        /// The number of changes so far.
        var generation = 0
    }

    private static let seconds = 0.5
    private static let maximum = 10_000

    private let state = Locked(State())

    /// Returns the token with an identifier.
    ///
    /// - Parameters:
    ///   - id: The identifier.
    ///   - now: The current time.
    ///   - read: Reads the token; `nil` if there is none.
    func token(
        _ id: String, at now: Date, _ read: () async throws -> (AccessToken, StorageClient)?
    ) async throws -> Known? {
        let id = ExactText(id)
        let (known, generation) = state.withLock { state -> (Known?, Int) in
            guard let known = state.known[id] else { return (nil, state.generation) }
            let age = now.timeIntervalSince(known.moment)
            if (0..<Self.seconds / 2).contains(age) { return (known, state.generation) }
            // One request reads the token again in time, so that not all of them wait for it.
            guard (0..<Self.seconds).contains(age), known.isRenewed else {
                state.known[id]?.isRenewed = true
                return (nil, state.generation)
            }
            return (known, state.generation)
        }
        if let known { return known }
        guard let (token, client) = try await read() else { return nil }
        let found = Known(token: token, client: client, moment: now)
        state.withLock { state in
            guard state.generation == generation else { return }
            if state.known.count >= Self.maximum { state.known = [:] }
            state.known[id] = found
        }
        return found
    }

    /// Forgets all tokens.
    func forget() {
        state.withLock { state in
            state.generation += 1
            state.known = [:]
        }
    }
}
#endif
