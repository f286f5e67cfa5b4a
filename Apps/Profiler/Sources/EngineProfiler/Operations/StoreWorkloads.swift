import Bodega
import Boutique
import Foundation

/// The item of a store: a plain model with text as long as a value.
struct Note: Codable, Sendable, Identifiable, Equatable {
    var id: String
    var revision: UInt32
    var text: String
}

extension Share {
    /// The identifier of the note of an item.
    func noteID(_ item: Int) -> String { "item-\(item)" }

    /// The expected note at a place.
    func note(at place: Int) -> Note { note(item(place), revision: revisions[place]) }

    /// The note of an item.
    func note(_ item: Int, revision: UInt32) -> Note { data.note(item, revision: revision) }
}

extension Dataset {
    /// The note of an item: its value in hexadecimal digits, a text that is hard to compress.
    func note(_ item: Int, revision: UInt32) -> Note {
        let bytes = value(item, revision: revision).prefix((valueBytes + 1) / 2)
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * bytes.count)
        let alphabet = Array("0123456789abcdef".utf8)
        for byte in bytes {
            digits.append(alphabet[Int(byte >> 4)])
            digits.append(alphabet[Int(byte & 15)])
        }
        let text = String(decoding: digits.prefix(valueBytes), as: UTF8.self)
        return Note(id: "item-\(item)", revision: revision, text: text)
    }
}

/// Finds items by their identifiers. The calls are timed on the main actor, to which stores are bound.
struct LookingUpNotes: Workload {
    let store: Store<Note>
    var share: Share

    mutating func call(_ stopwatch: Stopwatch) async throws -> UInt64 {
        let place = share.anyPlace()
        let (time, note) = try await Self.lookUp(share.noteID(share.item(place)), in: store, stopwatch)
        try expect(note, share.note(at: place))
        return time
    }

    @MainActor
    private static func lookUp(
        _ id: String,
        in store: Store<Note>,
        _ stopwatch: Stopwatch
    ) async throws -> (UInt64, Note?) {
        try await stopwatch.time(CacheKey(id)) { store[id] }
    }
}

/// Inserts new items, one or several in each call.
struct InsertingNotes: Workload {
    let store: Store<Note>
    let engine: any StorageEngine
    var share: Share
    /// The number of items in each call; `nil` for the method that inserts one.
    let batch: Int?
    private var inserted: [Note] = []

    init(store: Store<Note>, engine: any StorageEngine, share: Share, batch: Int? = nil) {
        self.store = store
        self.engine = engine
        self.share = share
        self.batch = batch
    }

    var itemsPerCall: Int { batch ?? 1 }
    var callsPerRound: Int { EngineProfiler.callsPerRound(items: share.data.count, itemsPerCall: itemsPerCall) }

    mutating func call(_ stopwatch: Stopwatch) async throws -> UInt64 {
        let notes = (0..<itemsPerCall).map { _ in share.note(share.newItem(), revision: 0) }
        inserted += notes
        let store = store
        if batch == nil {
            let note = notes[0]
            return try await stopwatch.time(CacheKey(note.id)) { try await store.insert(note) }.time
        }
        return try await stopwatch.time { try await store.insert(notes) }.time
    }

    mutating func endRound() async throws {
        guard !inserted.isEmpty else { return }
        for note in inserted { try expect(await store[note.id], note) }
        let keys = inserted.map { CacheKey($0.id) }
        let stored = try await engine.fetchKeys(among: keys)
        guard stored == keys else {
            throw CallFailure(
                key: Set(keys).subtracting(stored).first, message: "an inserted item is not in the engine")
        }
        try await store.remove(inserted)
        inserted.removeAll(keepingCapacity: true)
    }
}

/// Changes items.
struct UpdatingNotes: Workload {
    let store: Store<Note>
    var share: Share

    mutating func call(_ stopwatch: Stopwatch) async throws -> UInt64 {
        let place = share.anyPlace()
        _ = share.nextValue(at: place)
        let note = share.note(at: place)
        let (time, _) = try await stopwatch.time(CacheKey(note.id)) { [store] in
            try await store.update(id: note.id) { $0 = note }
        }
        try expect(await store[note.id], note)
        return time
    }
}

/// Removes items.
struct RemovingNotes: Workload {
    let store: Store<Note>
    var share: Share
    private var order: [Int] = []
    private var removed: [Int] = []

    init(store: Store<Note>, share: Share) {
        self.store = store
        self.share = share
    }

    var callsPerRound: Int { min(share.count, EngineProfiler.callsPerRound(items: share.data.count)) }

    mutating func call(_ stopwatch: Stopwatch) async throws -> UInt64 {
        if order.isEmpty { order = share.anyPlaces(callsPerRound) }
        let place = order.removeLast()
        removed.append(place)
        let id = share.noteID(share.item(place))
        return try await stopwatch.time(CacheKey(id)) { [store] in try await store.remove(id: id) }.time
    }

    mutating func endRound() async throws {
        order.removeAll()
        for place in removed {
            let id = share.noteID(share.item(place))
            guard await store[id] == nil else {
                throw CallFailure(key: CacheKey(id), message: "the item was removed, but is still in the store")
            }
        }
        try await store.insert(removed.map { share.note(at: $0) })
        removed.removeAll(keepingCapacity: true)
    }
}

/// Creates stores and loads all items.
struct LoadingNotes: Workload {
    let engine: any StorageEngine
    var share: Share

    var itemsPerCall: Int { share.data.count }

    mutating func call(_ stopwatch: Stopwatch) async throws -> UInt64 {
        let (time, store) = try await stopwatch.time { [engine] in try await Store<Note>(storage: engine) }
        try expect(await store.items.count, of: share.data.count)
        for _ in 0..<100 {
            let place = share.anyPlace()
            try expect(await store[share.noteID(share.item(place))], share.note(at: place))
        }
        return time
    }
}

/// Checks an item of a store.
private func expect(_ found: Note?, _ expected: Note) throws {
    if found != expected {
        throw CallFailure(
            key: CacheKey(expected.id),
            message: found == nil ? "the item is not in the store" : "the store has a wrong item")
    }
}
