#if Server
import Bodega
import BodegaMessages
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import RecordCoder

/// Notes about what has become of requests with idempotency keys.
///
/// The note of a request that is carried out is written in the transaction that the request asks for, so the two exist
/// together or not at all, after a crash too, and for all servers of the database. One whose conditions are not met is
/// noted before it is answered: its client goes on, and a copy of it that arrives later must not be carried out.
///
/// Source: The Idempotency-Key HTTP Header Field, draft-ietf-httpapi-idempotency-key-header.
struct Receipts: Sendable {
    /// The number of old notes that a request with a key removes at most; it writes one.
    private static let removals = 10
    /// How far the clock may be set back without the loss of notes, in seconds: a day.
    private static let clockCorrection = 86_400.0

    let storage: any StorageBackend
    /// How long a note is kept.
    let lifetime: TimeInterval

    /// A request with an idempotency key.
    struct Claim {
        let key: CacheKey
        /// Distinguishes the request from any other.
        let fingerprint: Data
        /// Whether the request only takes the key.
        var isFence = false
    }

    /// What has become of a request.
    enum Outcome: Hashable, Sendable { case carriedOut, refused }

    /// What is stored.
    private struct Receipt: Codable {
        let fingerprint: Data
        let date: Date
        /// Whether its conditions were not met; `nil` stands for `false`.
        var isRefused: Bool?
    }

    /// Whether a collection is in the same database.
    func covers(_ engine: any StorageBackend) -> Bool {
        guard let database = engine.groupDatabase else { return false }
        return database === storage.groupDatabase
    }

    /// What has become of a request; `nil` if that is open.
    ///
    /// - Throws: ``RequestRefusal/otherRequest`` if another request with its key was carried out or refused.
    func outcome(of claim: Claim) async throws -> Outcome? {
        let request = FetchRequest([claim.key], options: ReadOptions(needsOriginal: true))
        guard let item = try await storage.fetch(request).value.first else { return nil }
        let receipt = try JSONDecoder().decode(Receipt.self, from: item.data)
        let isRefused = receipt.isRefused ?? false
        // A fence asks whether another request with its key can still be carried out, and this one can't.
        guard receipt.fingerprint == claim.fingerprint || claim.isFence && isRefused else {
            throw RequestRefusal.otherRequest
        }
        return isRefused ? .refused : .carriedOut
    }

    /// Applies batches with a note of them.
    ///
    /// - Returns: The answers to the batches; `nil` if the note exists.
    func apply(
        _ batches: [(engine: any StorageBackend, batch: StorageBatch)], _ claim: Claim
    ) async throws -> [StorageAnswer<BatchOutcome>]? {
        let refused = batches.map { _ in StorageAnswer(BatchOutcome(wasApplied: false)) }
        switch try await outcome(of: claim) {
        case .carriedOut: return nil
        case .refused: return refused
        case nil: break
        }
        let answers = try await StorageBatchGroup.apply(batches + [(storage, try note(of: claim, isRefused: false))])
        if answers.allSatisfy(\.value.wasApplied) {
            await removeOld()
            return answers.dropLast()
        }
        // The same request may have been carried out at the same time.
        return try await outcome(of: claim) == .carriedOut ? nil : refused
    }

    /// Ensures that a request whose conditions were not met is not carried out later.
    ///
    /// - Returns: What has become of it: it can have been carried out at the same time.
    func refuse(_ claim: Claim) async throws -> Outcome {
        if try await storage.apply(try note(of: claim, isRefused: true)).value.wasApplied {
            await removeOld()
            return .refused
        }
        return try await outcome(of: claim) ?? .refused
    }

    /// A batch that notes what becomes of a request, if nothing has yet.
    private func note(of claim: Claim, isRefused: Bool) throws -> StorageBatch {
        let receipt = Receipt(
            fingerprint: claim.fingerprint, date: storage.now(), isRefused: isRefused ? true : nil)
        return StorageBatch(
            [.write(key: claim.key, data: try JSONEncoder().encode(receipt))],
            if: [StorageCondition(key: claim.key, data: nil)])
    }

    /// Removes some notes that are too old.
    private func removeOld() async {
        do {
            let now = storage.now()
            // A note of a later time was written before the clock was set back, maybe just before, so it must not go
            // yet. One of a much later time would stay until then, and all others behind it.
            let latest = now.addingTimeInterval(max(lifetime, Self.clockCorrection))
            let kept = now.addingTimeInterval(-lifetime)...latest
            let old = Locked<[CacheKey]>([])
            _ = try await storage.scan(ScanRequest(isShort: true)) {
                old.withLock { $0 = [] }
                return { _, item in
                    // The oldest come first.
                    let date = try JSONDecoder().decode(Receipt.self, from: item.data).date
                    if kept.contains(date) { return false }
                    return old.withLock { keys in
                        keys.append(item.key)
                        return keys.count < Self.removals
                    }
                }
            }
            let keys = old.withLock { $0 }
            if !keys.isEmpty { _ = try await storage.apply(StorageBatch(keys.map { .remove(key: $0) })) }
        } catch {
            // They only take space, and the next request tries again.
        }
    }
}

extension StorageRoutes {
    /// The claim of a request with an idempotency key; `nil` if it has none.
    ///
    /// - Parameter body: The body of the request.
    func claim(_ request: ClientRequest, _ body: Data) throws -> Receipts.Claim? {
        guard let header = request.request.headers[.idempotencyKey] else { return nil }
        let isQuoted = header.count >= 2 && header.hasPrefix("\"") && header.hasSuffix("\"")
        let key = isQuoted ? String(header.dropFirst().dropLast()) : header
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 })
        else {
            throw StorageError(.invalidArgument, "An idempotency key has from 1 to 255 visible characters of ASCII.")
        }
        let target = "\(request.request.method.rawValue) \(request.request.uri.string)"
        let conditions = [HTTPField.Name.ifMatch, .ifNoneMatch].map { request.request.headers[$0] ?? "" }
        // A random UUID is unique among all clients, and known to its own. One whose token was replaced in the meantime
        // sends the request again as another client. Any other key belongs to a client.
        let owner = UUID(uuidString: key)?.isRandom ?? false ? "" : request.client.id
        return Receipts.Claim(
            key: CacheKey(verbatim: digest([owner, key].map { Data($0.utf8) }).hex),
            fingerprint: digest(([target] + conditions).map { Data($0.utf8) } + [body]))
    }

    /// Applies batches, not again if the request was carried out before.
    func apply(
        _ batches: [(engine: any StorageBackend, batch: StorageBatch)], _ claim: Receipts.Claim?
    ) async throws -> [StorageAnswer<BatchOutcome>] {
        guard let claim else { return try await StorageBatchGroup.apply(batches) }
        guard let receipts, batches.allSatisfy({ receipts.covers($0.engine) }) else {
            throw StorageError(.invalidArgument, "The server keeps no idempotency keys for this collection.")
        }
        if let answers = try await receipts.apply(batches, claim) { return answers }
        return try await answersToRepetition(of: batches)
    }

    /// Applies batches, or notes that they never will be because a condition of the client is not met.
    func applyOrRefuse(
        _ batches: [(engine: any StorageBackend, batch: StorageBatch)], _ claim: Receipts.Claim?
    ) async throws -> [StorageAnswer<BatchOutcome>] {
        let answers = try await apply(batches, claim)
        guard let claim, let receipts, !answers.allSatisfy(\.value.wasApplied) else { return answers }
        return try await receipts.refuse(claim) == .refused ? answers : try await answersToRepetition(of: batches)
    }

    /// The answers to batches that were applied before. Their places in the log are not known any more.
    private func answersToRepetition(
        of batches: [(engine: any StorageBackend, batch: StorageBatch)]
    ) async throws -> [StorageAnswer<BatchOutcome>] {
        var answers: [StorageAnswer<BatchOutcome>] = []
        for (engine, batch) in batches {
            var outcome = BatchOutcome()
            if engine.traits.contains(.expires) {
                let items = try await engine.fetch(FetchRequest(batch.writtenKeys, .expiry)).value
                outcome.expiry = items.compactMap(\.expiry).min()
            }
            answers.append(StorageAnswer(outcome))
        }
        return answers
    }

    /// A digest of parts that can't be divided in another way.
    private func digest(_ parts: [Data]) -> Data {
        var digest = SHA256()
        for part in parts {
            withUnsafeBytes(of: UInt64(part.count).bigEndian) { digest.update(bufferPointer: $0) }
            digest.update(data: part)
        }
        return Data(digest.finalize())
    }
}

extension StorageBatch {
    /// The keys of written items.
    fileprivate var writtenKeys: [CacheKey] {
        operations.compactMap { if case .write(let key, _) = $0 { key } else { nil } }
    }
}

extension UUID {
    /// Whether it can't be guessed: it has version 4 or 7 of RFC 9562.
    fileprivate var isRandom: Bool { [4, 7].contains(uuid.6 >> 4) }
}

extension Data {
    fileprivate var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

extension HTTPField.Name {
    static let idempotencyKey = named("Idempotency-Key")
}
#endif
