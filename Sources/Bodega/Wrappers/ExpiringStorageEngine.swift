public import Foundation

/// An engine whose items expire. ``StorageEngine/expiring(after:now:)`` creates one.
///
/// - An item that has expired is never returned, as if it had been removed. Each write begins a new period.
/// - An item holds its own expiry, so it survives reopening, and a different period can be set for single items by
///   ``write(_:key:expiringAfter:)``. Other parameters of a later engine apply only to what that writes.
/// - Expired items take space until they are overwritten, removed, or until ``removeExpired()`` is called, for example
///   when the program starts. A change feed reports the removal then, not when the item expires. An expired item that
///   is written again keeps its place and the date of its creation, unless it was removed in between.
/// - Calls that return keys, dates or their number read the items, too, one after the other or in parts of about a
///   mebibyte. Parts are not from one moment, but if the other engine is a mirror, all come from its base, or all from
///   the copy: if the base fails in between, the call begins again. All other calls cost what they cost in the other
///   engine.
///
/// Apply it after ``StorageEngine/cached(count:bytes:)`` and
/// ``StorageEngine/mirrored(to:readingMirror:pausing:clock:)``. A cache around it returns items that have expired since
/// it read them, and a mirror around it keeps them. A store around it shows items that have expired until its next
/// operation that writes.
///
/// The other engine holds 12 bytes before each item: `EXP1` in ASCII and the expiry in milliseconds since 1970, a
/// signed big-endian integer. An item without them, which was not written by such an engine, is reported as
/// ``StorageError/Code/decodingFailed``.
///
/// The time is that of the system. If it is set back, items live longer.
public struct ExpiringStorageEngine<Base: StorageEngine>: TransformingStorageEngine {
    public let base: Base
    private let period: Duration
    private let now: @Sendable () -> Date

    private static var magic: [UInt8] { Array("EXP1".utf8) }

    init(base: Base, period: Duration, now: @escaping @Sendable () -> Date) {
        (self.base, self.period, self.now) = (base, period, now)
    }

    public func encode(_ data: Data, key: CacheKey) -> Data { encode(data, key, expiringAfter: period) }

    private func encode(_ data: Data, _ key: CacheKey, expiringAfter period: Duration) -> Data {
        let milliseconds = now().timeIntervalSince1970 * 1_000 + period / .milliseconds(1)
        let expiry = Int64(exactly: milliseconds.rounded(.down)) ?? (milliseconds > 0 ? .max : .min)
        report(expiry, of: key)
        return Self.magic + withUnsafeBytes(of: expiry.bigEndian) { Data($0) } + data
    }

    public func decode(_ stored: Data, key: CacheKey) throws -> Data? {
        let expiry = try expiry(of: stored, key: key)
        if hasPassed(expiry) { return nil }
        report(expiry, of: key)
        return Data(stored.dropFirst(12))
    }

    private func report(_ expiry: Int64, of key: CacheKey) {
        guard let call = InnerCall.current, call.followsExpiry else { return }
        call.expires(ItemExpiry(key: key, time: expiry) { [now] in Self.milliseconds(now()) })
    }

    private static func milliseconds(_ date: Date) -> Int64 {
        Int64(exactly: (date.timeIntervalSince1970 * 1_000).rounded(.down)) ?? .max
    }

    private func hasPassed(_ expiry: Int64) -> Bool {
        // The last moment stands for "never".
        expiry != .max && Double(expiry) <= now().timeIntervalSince1970 * 1_000
    }

    private func isExpired(_ stored: Data, key: CacheKey) throws -> Bool {
        hasPassed(try expiry(of: stored, key: key))
    }

    private func expiry(of stored: Data, key: CacheKey) throws -> Int64 {
        guard stored.count >= 12, stored.starts(with: Self.magic) else {
            throw StorageError(
                .decodingFailed,
                "The item has no expiry, so it was not written by an expiring engine. Copy it into one, or remove it.",
                key: key)
        }
        return Int64(bitPattern: stored.dropFirst(4).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// Writes an item that expires after a period of its own.
    ///
    /// - Parameters:
    ///   - data: The item.
    ///   - key: The item's key.
    ///   - period: The period; `nil` if the item never expires.
    /// - Throws: The error of the other engine.
    public func write(_ data: Data, key: CacheKey, expiringAfter period: Duration?) async throws {
        try await callBase {
            try await base.write(encode(data, key, expiringAfter: period ?? .seconds(Int64.max)), key: key)
        }
    }

    public func fetchKeys() async throws -> [CacheKey] {
        let keys = Locked<[CacheKey]>([])
        try await reading {
            keys.withLock { $0 = [] }
            if let base = base as? any QueryableStorageEngine {
                // One item after the other, all from one moment.
                try await base.scan([.all(after: nil)]) {
                    keys.withLock { $0 = [] }
                    return { _, entry in
                        if try !isExpired(entry.data, key: entry.key) { keys.withLock { $0.append(entry.key) } }
                        return true
                    }
                }
            } else {
                try await base.readParts { part in
                    if let error = part.unreadable.first { throw error }
                    for (key, data) in part.value where try !isExpired(data, key: key) {
                        keys.withLock { $0.append(key) }
                    }
                }
            }
        }
        return keys.withLock { $0 }
    }

    public func fetchKeys(among candidates: [CacheKey]) async throws -> [CacheKey] {
        try await reading {
            var (remaining, size, existing) = (candidates[...], PartSize(), Set<CacheKey>())
            while !remaining.isEmpty {
                let items = try await fetch(keys: size.next(of: &remaining))
                size.fit(items)
                existing.formUnion(items.lazy.map(\.key))
            }
            return candidates.filter(existing.contains)
        }
    }

    public func fetchCount() async throws -> Int {
        try await fetchKeys().count
    }

    public func fetchDates(key: CacheKey) async throws -> StorageDates? {
        try await reading { try await fetch(key: key) == nil ? nil : try await base.fetchDates(key: key) }
    }

    /// Performs a read of several calls. If a mirror has answered some of them from its base, and some from its copy,
    /// the read begins again.
    private func reading<Value>(_ read: () async throws -> Value) async throws -> Value {
        for _ in 0..<3 {
            let call = InnerCall()
            let value = try await call { try await callBase(read) }
            if !call.isMixed { return value }
        }
        throw StorageError(.unreachable, "The base of a mirror failed again and again during a read. Try again.")
    }
}

/// An engine whose items are absent some time after they were written, without being removed.
protocol ItemExpiringEngine {}

extension ExpiringStorageEngine: ItemExpiringEngine {}

extension ExpiringStorageEngine where Base: ConditionalStorageEngine {

    /// Removes the items that have expired, in batches of at most 500 items and about a mebibyte. An item that is
    /// overwritten at the same time remains.
    ///
    /// The call reads all items once.
    ///
    /// - Returns: The number of removed items.
    /// - Throws: The error of the other engine. Some items may then be removed. An item that can't be read, or that no
    ///   expiring engine has written, remains; its error is thrown after all others were examined.
    @discardableResult
    public func removeExpired() async throws -> Int {
        var count = 0
        var failure: (any Error)?
        try await base.readParts { part in
            failure = failure ?? part.unreadable.first
            var (part, attempts) = (part.value, ConditionalAttempts())
            while true {
                let expired = part.filter { item in
                    do { return try isExpired(item.data, key: item.key) } catch { failure = failure ?? error }
                    return false
                }
                let conditions = expired.map { StorageCondition(key: $0.key, data: $0.data) }
                if expired.isEmpty { break }
                if try await base.apply(expired.map { .remove(key: $0.key) }, if: conditions) {
                    count += expired.count
                    break
                }
                try Task.checkCancellation()
                try attempts.fail(expired[0].key)
                part = try await base.fetch(keys: expired.map(\.key))
            }
        }
        if let failure { throw failure }
        return count
    }
}

extension ExpiringStorageEngine: DatedStorageEngine where Base: DatedStorageEngine {

    /// Reads the dates of all items. See ``DatedStorageEngine/fetchAllDates()``.
    public func fetchAllDates() async throws -> [(key: CacheKey, dates: StorageDates)] {
        try await reading {
            let existing = Set(try await fetchKeys())
            return try await base.fetchAllDates().filter { existing.contains($0.key) }
        }
    }
}

extension ExpiringStorageEngine: ConditionalStorageEngine where Base: ConditionalStorageEngine {}
extension ExpiringStorageEngine: ObservableStorageEngine where Base: ObservableStorageEngine {}
extension ExpiringStorageEngine: QueryableStorageEngine where Base: QueryableStorageEngine {}

extension StorageEngine {

    /// Returns an engine whose items expire.
    ///
    /// ```swift
    /// let answers = try SQLiteStorageEngine(opening: directory).expiring(after: .seconds(3600))
    /// ```
    ///
    /// - Parameters:
    ///   - period: The time after its last write after which an item expires. Zero or less: immediately.
    ///   - now: Returns the time.
    public func expiring(
        after period: Duration, now: @escaping @Sendable () -> Date = { Date() }
    ) -> ExpiringStorageEngine<Self> {
        ExpiringStorageEngine(base: self, period: period, now: now)
    }
}
