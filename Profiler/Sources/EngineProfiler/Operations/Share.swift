import Bodega
import BodegaTesting
import Foundation

/// The items that one worker handles, so that it knows what each must be although others work at the same time.
///
/// Of three workers the first has the items 0, 3, 6 …
struct Share: Sendable {

    /// The items of all workers.
    let data: Dataset
    private let worker: Int
    private let workers: Int
    /// How often each of its items was overwritten.
    private(set) var revisions: [UInt32]
    private var added = 0
    /// What decides which item is next.
    var generator: SeededGenerator

    /// Gives a worker its items.
    ///
    /// - Precondition: There are no fewer items than workers.
    init(_ data: Dataset, worker: Int, of workers: Int, seed: UInt64) {
        self.data = data
        self.worker = worker
        self.workers = workers
        revisions = Array(repeating: 0, count: (data.count - worker + workers - 1) / workers)
        generator = SeededGenerator(seed: seed &+ UInt64(worker) &* 0x9E37_79B9_7F4A_7C15)
    }

    /// How many items it has.
    var count: Int { revisions.count }

    /// Which item is at a place of this share.
    func item(_ place: Int) -> Int { worker + place * workers }

    /// Where an item is in this share, `nil` if it is another worker's.
    func place(_ item: Int) -> Int? { item % workers == worker ? item / workers : nil }

    /// Any place.
    mutating func anyPlace() -> Int { Int.random(in: 0..<count, using: &generator) }

    /// Different places, at most as many as there are.
    mutating func anyPlaces(_ wanted: Int) -> [Int] {
        guard wanted < count else { return Array(0..<count).shuffled(using: &generator) }
        var places: [Int] = []
        var seen: Set<Int> = []
        while places.count < wanted {
            let place = anyPlace()
            if seen.insert(place).inserted { places.append(place) }
        }
        return places
    }

    /// An item that was never there.
    mutating func newItem() -> Int {
        defer { added += 1 }
        return item(count + added)
    }

    /// What an item must be.
    func value(at place: Int) -> Data { data.value(item(place), revision: revisions[place]) }

    /// What an item becomes next.
    mutating func nextValue(at place: Int) -> Data {
        revisions[place] += 1
        return value(at: place)
    }

    /// The key at a place.
    func key(at place: Int) -> CacheKey { data.key(item(place)) }

    /// Checks what was read.
    func check(_ found: Data?, at place: Int) throws {
        try data.check(found, item(place), revision: revisions[place])
    }

    /// Checks an item that may be another worker's, whose last value only that one knows.
    func check(_ found: Data, of key: CacheKey) throws {
        guard let item = data.item(key), item < data.count else {
            throw CallFailure(key: key, message: "got an item that was not written")
        }
        try data.check(found, item, revision: place(item).map { revisions[$0] })
    }
}
