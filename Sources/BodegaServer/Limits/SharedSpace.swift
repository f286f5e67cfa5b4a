#if Server
import Bodega

/// Space that all clients may use together, and each of them a part of it.
final class SharedSpace: Sendable {
    /// Why there is no space.
    enum Shortage: Error { case ofClient, ofAll }

    private struct State {
        var total = 0
        var byClient: [ExactText: Int] = [:]
    }

    private let used = Locked(State())
    private let perClient: Int
    private let total: Int

    /// - Parameters:
    ///   - perClient: The number of bytes for each client.
    ///   - total: The number of bytes for all of them.
    init(perClient: Int, total: Int) { (self.perClient, self.total) = (perClient, total) }

    /// The number of bytes in use.
    var count: Int { used.withLock { $0.total } }

    fileprivate func take(_ count: Int, for client: ExactText) throws {
        try used.withLock { used in
            let own = used.byClient[client, default: 0]
            guard count <= perClient - own else { throw Shortage.ofClient }
            guard count <= total - used.total else { throw Shortage.ofAll }
            (used.total, used.byClient[client]) = (used.total + count, own + count)
        }
    }

    fileprivate func giveBack(_ count: Int, of client: ExactText) {
        guard count > 0 else { return }
        used.withLock { used in
            used.total -= count
            let own = used.byClient[client, default: 0] - count
            used.byClient[client] = own == 0 ? nil : own
        }
    }
}

/// The space that a request has taken. It is given back with the last reference.
final class RequestSpace: Sendable {
    private let space: SharedSpace
    private let client: ExactText
    private let taken = Locked(0)

    init(_ space: SharedSpace, _ client: StorageClient) { (self.space, self.client) = (space, ExactText(client.id)) }

    deinit { giveBack() }

    /// Takes space for more bytes.
    ///
    /// - Throws: A ``SharedSpace/Shortage``.
    func take(_ count: Int) throws {
        try space.take(count, for: client)
        taken.withLock { $0 += count }
    }

    /// Gives all of it back.
    func giveBack() {
        let count = taken.withLock { taken in
            defer { taken = 0 }
            return taken
        }
        space.giveBack(count, of: client)
    }
}
#endif
