import DequeModule

/// The hashes of keys whose items a queue of a cache has evicted, oldest first.
struct CacheGhosts: Sendable {
    private struct Ghost: Sendable {
        let number: Int
        let size: StorageSize
    }

    private var ghosts: [Int: Ghost] = [:]
    /// The order of the ghosts. An entry whose ghost is gone, or has returned under another number, is skipped.
    private var order: Deque<(hash: Int, number: Int)> = []
    private var lastNumber = 0

    /// The number and bytes of the evicted items.
    private(set) var size = StorageSize()

    mutating func insert(_ hash: Int, size: StorageSize) {
        remove(hash)
        lastNumber += 1
        ghosts[hash] = Ghost(number: lastNumber, size: size)
        order.append((hash, lastNumber))
        self.size += size
        if order.count > 2 * ghosts.count + 16 { order.removeAll { ghosts[$0.hash]?.number != $0.number } }
    }

    /// Removes a ghost, and returns whether there was one.
    @discardableResult
    mutating func remove(_ hash: Int) -> Bool {
        guard let ghost = ghosts.removeValue(forKey: hash) else { return false }
        size -= ghost.size
        return true
    }

    /// Removes the oldest ghost.
    mutating func removeFirst() {
        while let (hash, number) = order.popFirst() {
            if ghosts[hash]?.number == number {
                remove(hash)
                return
            }
        }
    }

    var isEmpty: Bool { ghosts.isEmpty }
}
