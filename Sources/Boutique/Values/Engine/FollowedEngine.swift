import Bodega

/// Refreshes the values of one engine after foreign changes.
final class FollowedEngine: Sendable {

    private let log: any StorageLog
    private let name: String
    private let currentOrigin = Locked(StorageOrigin())
    private let values = Locked<[CacheKey: [Weak<EngineValue>]]>([:])
    private let followed: FollowedLog

    private static let all = SharedObjects<ObjectIdentifier, FollowedEngine>()

    /// The follower of an engine, the same for each call with one engine object; `nil` if it reports no changes.
    static func shared(_ engine: any StorageEngine) -> FollowedEngine? {
        guard let log = engine.backend.log else { return nil }
        let new = FollowedEngine(log, "\(type(of: engine))")
        let followed = identity(of: engine).map { all.object(for: $0, orNew: new) } ?? new
        if followed === new { new.follow() }
        return followed
    }

    private init(_ log: any StorageLog, _ name: String) {
        (self.log, self.name, followed) = (log, name, FollowedLog(log))
    }

    private func follow() {
        followed.begin("values in \(name)") { [weak self] in try await self?.catchUp() }
        Task { @MainActor [followed] in followed.follow() }
    }

    /// The origin of the changes that these values make.
    var origin: StorageOrigin { currentOrigin.withLock { $0 } }

    /// Replaces the origin after a write whose outcome is unknown. If the engine applies that write late, it has a
    /// foreign origin and is published like any foreign change.
    func renewOrigin() {
        currentOrigin.withLock { $0 = StorageOrigin() }
    }

    /// Starts to refresh a value after foreign changes of its key.
    func add(_ value: EngineValue) {
        values.withLock { $0[value.key, default: []].append(Weak(value)) }
    }

    /// Removes a value that is being deallocated. A new one may have replaced it already.
    func remove(_ key: CacheKey, _ identity: ObjectIdentifier) {
        values.withLock { values in
            values[key]?.removeAll { $0.identity == identity }
            if values[key]?.isEmpty == true { values[key] = nil }
        }
    }

    /// Refreshes the values that have changed since the cursor, or all.
    @MainActor private func catchUp() async throws {
        let origin = origin
        try await followed.catchUp { cursor in
            try await log.fetchAllChanges(since: cursor, excluding: origin)
        } show: { delta in
            // If the origin has been renewed in the meantime, a late write of the old one may have been omitted.
            guard origin == self.origin else {
                followed.catchUpSoon()
                return followed.cursor
            }
            let changed = Set(delta.changes.lazy.filter { $0.origin != origin }.map(\.key))
            let concerned = values.withLock { values in
                changed.flatMap { values[$0, default: []].compactMap(\.object) }
            }
            for value in concerned { try await value.refresh() }
            return delta.cursor
        } orAll: {
            let now = try await log.fetchCursor()
            for value in values.withLock({ $0.values.joined().compactMap(\.object) }) { try await value.refresh() }
            followed.cursor = now
        }
    }
}
