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
/// operation that writes, and a live window until they are removed, for example by ``removeExpired()``, or it loads
/// again.
///
/// The other engine holds 12 bytes before each item: `EXP1` in ASCII and the expiry in milliseconds since 1970, a
/// signed big-endian integer. An item without them, which was not written by such an engine, is reported as
/// ``StorageError/Code/decodingFailed``.
///
/// The time is that of the system. If it is set back, items live longer.
public struct ExpiringStorageEngine: TransformingStorageEngine {
    public let base: any StorageBackend
    private let period: Duration
    private let current: @Sendable () -> Date

    private static var magic: [UInt8] { Array("EXP1".utf8) }

    init(base: any StorageBackend, period: Duration, now: @escaping @Sendable () -> Date) {
        (self.base, self.period, current) = (base, period, now)
    }

    public func encode(_ data: Data, key: CacheKey) -> Data { encode(data, key, expiringAfter: period) }

    private func encode(_ data: Data, _ key: CacheKey, expiringAfter period: Duration) -> Data {
        let expiry = expiry(after: period)
        return Self.magic + withUnsafeBytes(of: expiry.bigEndian) { Data($0) } + data
    }

    /// The time at which an item that is written now expires, in milliseconds since 1970.
    private func expiry(after period: Duration) -> Int64 {
        let milliseconds = current().timeIntervalSince1970 * 1_000 + period / .milliseconds(1)
        return Int64(exactly: milliseconds.rounded(.down)) ?? (milliseconds > 0 ? .max : .min)
    }

    public func now() -> Date { current() }

    public var hidesItems: Bool { true }

    /// Those of the base, and its items expire.
    public var traits: StorageTraits { base.traits.union(.expires) }

    public func expiryOfWrites() -> Date? { Self.date(expiry(after: period)) }

    public func expiry(ofStored stored: Data, key: CacheKey) throws -> Date? {
        Self.date(try milliseconds(of: stored, key: key))
    }

    /// The last moment stands for "never".
    private static func date(_ milliseconds: Int64) -> Date? {
        milliseconds == .max ? nil : Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }

    public func decode(_ stored: Data, key: CacheKey) throws -> Data? {
        if hasPassed(try milliseconds(of: stored, key: key)) { return nil }
        return Data(stored.dropFirst(12))
    }

    private func hasPassed(_ expiry: Int64) -> Bool {
        // The last moment stands for "never".
        expiry != .max && Double(expiry) <= current().timeIntervalSince1970 * 1_000
    }

    private func isExpired(_ stored: Data, key: CacheKey) throws -> Bool {
        hasPassed(try milliseconds(of: stored, key: key))
    }

    private func milliseconds(of stored: Data, key: CacheKey) throws -> Int64 {
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
        try await naming {
            try await base.write(encode(data, key, expiringAfter: period ?? .seconds(Int64.max)), key: key)
        }
    }
}

extension ExpiringStorageEngine {

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
            failure = failure ?? part.report.unreadable.first
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
                part = try await base.fetch(FetchRequest(expired.map(\.key))).value
            }
        }
        if let failure { throw failure }
        return count
    }
}

extension StorageEngine {

    /// Returns an engine whose items expire. It has no indexes, so a query reads all items.
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
    ) -> ExpiringStorageEngine {
        ExpiringStorageEngine(base: backend, period: period, now: now)
    }
}
