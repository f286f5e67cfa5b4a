import Bodega
import BodegaTesting
import Foundation

/// The items of one worker, which therefore knows their values while other workers run.
///
/// The first of three workers has the items 0, 3, 6 …
struct Share: Sendable {

    /// The items of all workers.
    let data: Dataset
    private let worker: Int
    private let workers: Int
    /// How often each of the worker's items has been overwritten.
    private(set) var revisions: [UInt32]
    private var added = 0
    /// The generator that chooses the next item.
    var generator: SeededGenerator

    /// Creates the share of a worker.
    ///
    /// - Precondition: There are at least as many items as workers.
    init(_ data: Dataset, worker: Int, of workers: Int, seed: UInt64) {
        self.data = data
        self.worker = worker
        self.workers = workers
        revisions = Array(repeating: 0, count: (data.count - worker + workers - 1) / workers)
        generator = SeededGenerator(seed: seed &+ UInt64(worker) &* 0x9E37_79B9_7F4A_7C15)
    }

    /// The number of items.
    var count: Int { revisions.count }

    /// The item at a place of this share.
    func item(_ place: Int) -> Int { worker + place * workers }

    /// The place of an item in this share, `nil` if it belongs to another worker.
    func place(_ item: Int) -> Int? { item % workers == worker ? item / workers : nil }

    /// A random place.
    mutating func anyPlace() -> Int { Int.random(in: 0..<count, using: &generator) }

    /// Different random places, at most as many as there are.
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

    /// An item that has never existed.
    mutating func newItem() -> Int {
        defer { added += 1 }
        return item(count + added)
    }

    /// The expected value of an item.
    func value(at place: Int) -> Data { data.value(item(place), revision: revisions[place]) }

    /// The next value of an item.
    mutating func nextValue(at place: Int) -> Data {
        revisions[place] += 1
        return value(at: place)
    }

    /// The key at a place.
    func key(at place: Int) -> CacheKey { data.key(item(place)) }

    /// Checks a value that was read.
    func check(_ found: Data?, at place: Int) throws {
        try data.check(found, item(place), revision: revisions[place])
    }

    /// Checks an item that may belong to another worker, whose last value is unknown here.
    func check(_ found: Data, of key: CacheKey) throws {
        guard let item = data.item(key), item < data.count else {
            throw CallFailure(key: key, message: "the engine returned an item that was never written")
        }
        try data.check(found, item, revision: place(item).map { revisions[$0] })
    }
}
