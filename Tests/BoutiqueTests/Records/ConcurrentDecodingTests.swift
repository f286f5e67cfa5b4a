import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Boutique

/// Records are decoded in parts while the engine reads.
@Suite struct ConcurrentDecodingTests {
    private typealias Records = [(key: CacheKey, data: Data)]

    private func records(_ notes: [Note]) throws -> Records {
        try notes.map { (CacheKey($0.id), try JSONEncoder().encode($0)) }
    }

    private func decoding(_ coder: any ObjectCoder = .json) -> ConcurrentDecoding<Note> {
        ConcurrentDecoding(RecordCoding(identifier: \.id, coder: coder, migration: nil))
    }

    @Test(arguments: [0, 1, 511, 512, 513, 1_024, 20_000])
    func `All records are decoded, in their order`(_ count: Int) async throws {
        let notes = (0..<count).map { Note(id: "\(count - $0)", count: $0) }
        let decoding = decoding()
        decoding.receive(inParts: try records(notes))
        let decoded = await decoding.result()
        #expect(decoded.items == notes)
        #expect(decoded.keys == notes.map { CacheKey($0.id) })
        #expect(decoded.irregular.isEmpty && decoded.old.isEmpty)
        #expect(decoded.ranks == Dictionary(uniqueKeysWithValues: zip(decoded.keys, 0...)))
    }

    @Test func `Records that are not items under their own keys stay in their places`() async throws {
        let notes = (0..<3_000).map { Note(id: "\($0)") }
        var records = try records(notes)
        let undecodable: Set = [0, 511, 512, 1_500, 2_999]
        let displaced: Set = [1, 510, 513, 2_047, 2_048, 2_998]
        for index in undecodable { records[index].data = Data("{".utf8) }
        for index in displaced { records[index].key = CacheKey("elsewhere \(index)") }
        let decoding = decoding()
        decoding.receive(inParts: records)
        let decoded = await decoding.result()
        #expect(decoded.undecodable.map(\.key) == undecodable.sorted().map { CacheKey("\($0)") })
        var next = 0
        decoded.forEach { key, record in
            defer { next += 1 }
            #expect(key == records[next].key)
            switch record {
            case .undecodable: #expect(undecodable.contains(next))
            case .item(let item, let itemKey, let isOld):
                #expect(item == notes[next] && itemKey == CacheKey(item.id) && !isOld)
                #expect((key != itemKey) == displaced.contains(next))
            }
        }
        #expect(next == records.count)
    }

    @Test func `A repeated read replaces the parts of the earlier one, even if they are decoded last`() async throws {
        let coder = WaitingCoder()
        let earlier = try records((0..<2).map { Note(id: WaitingCoder.waiting, count: $0) })
        let notes = (0..<5).map { Note(id: "\($0)") }
        let others = try records([Note(id: "other")])
        let repeated = try records(notes)
        let decoding = decoding(coder)
        // On a thread of its own, because it waits for a task.
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                // A task decodes the first part, because a core is free.
                decoding.receive(0, earlier)
                decoding.receive(1, others)
                coder.waitForArrival()
                for (number, record) in repeated.enumerated() { decoding.receive(number, [record]) }
                coder.release()
                continuation.resume()
            }
        }
        let decoded = await decoding.result()
        #expect(decoded.items == notes)
        #expect(decoded.keys == notes.map { CacheKey($0.id) })
    }

    @MainActor
    @Test func `A store reads everything again if the engine fails after some parts`() async throws {
        let folder = TemporaryFolder()
        let engine = FailingSnapshots(try SQLiteStorageEngine(opening: folder.directory))
        let notes = (0..<3_000).map { Note(id: "\($0)") }
        try await engine.base.write(try records(notes))
        let store = try await Store<Note>(storage: engine)
        #expect(store.items == notes && store.undecodable.isEmpty)
        #expect(engine.failures.withLock { $0 } == 1)
        try await engine.base.remove(key: CacheKey("0"))
        try await store.reload()
        #expect(store.items == Array(notes.dropFirst()))
    }

    @MainActor
    @Test func `A store that is loaded beside a writer shows one moment, and then each later one`() async throws {
        let folder = TemporaryFolder()
        let writer = try SQLiteStorageEngine(opening: folder.directory)
        let ids = (0..<2_000).map { "\($0)" }
        try await writer.write(try records(ids.map { Note(id: $0) }))
        let isDone = Locked(false)
        let writing = Task.detached { [self] in
            var count = 0
            repeat {
                count += 1
                try await writer.write(try records(ids.map { Note(id: $0, count: count) }))
            } while !isDone.withLock { $0 }
            return count
        }
        var stores: [Store<Note>] = []
        for _ in 0..<10 {
            let store = try await Store<Note>(storage: try SQLiteStorageEngine(opening: folder.directory))
            #expect(store.items.map(\.id) == ids)
            #expect(Set(store.items.map(\.count)).count == 1)
            stores.append(store)
        }
        isDone.withLock { $0 = true }
        let last = try await writing.value
        for store in stores {
            for await items in store.$items.values where items.allSatisfy({ $0.count == last }) { break }
        }
    }
}

/// A coder that waits in the middle of some records.
private struct WaitingCoder: ObjectCoder {
    static let waiting = "waiting"
    private let arrivals = DispatchSemaphore(value: 0)
    private let releases = DispatchSemaphore(value: 0)

    func waitForArrival() { arrivals.wait() }
    func release() { for _ in 0..<2 { releases.signal() } }

    func encode<Object: Encodable>(_ object: Object) throws -> Data { try JSONEncoder().encode(object) }

    func decode<Object: Decodable>(_ type: Object.Type, from data: Data) throws -> Object {
        if String(decoding: data, as: UTF8.self).contains(Self.waiting) {
            arrivals.signal()
            releases.wait()
        }
        return try JSONDecoder().decode(type, from: data)
    }
}

/// An engine whose snapshots fail after some parts.
private struct FailingSnapshots: ForwardingStorageEngine {
    let base: any StorageBackend
    let failures = Locked(0)

    init(_ base: any StorageBackend) { self.base = base }

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        try await body()
    }

    func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        let isFirst = failures.withLock { failures in
            defer { failures = 1 }
            return failures == 0
        }
        guard isFirst else { return try await base.scan(request, begin) }
        let count = Locked(0)
        _ = try await base.scan(request) {
            let receive = try begin()
            return { number, item in
                let isPassed = count.withLock { count in
                    count += 1
                    return count <= 3 * 512
                }
                return try isPassed && receive(number, item)
            }
        }
        throw StorageError(.inputOutput, "The disk can't be read.")
    }
}

extension ConcurrentDecoding {
    /// Passes on records like an engine that reads them in parts.
    fileprivate func receive(inParts records: [(key: CacheKey, data: Data)]) {
        for (number, start) in stride(from: 0, to: max(records.count, 1), by: 512).enumerated() {
            receive(number, Array(records[start..<min(start + 512, records.count)]))
        }
    }
}
