/// The keys that objects of one kind use, in the order in which they came up first, with their JSON at hand.
///
/// Objects of a kind have the same keys in the same order, nearly always: so the next key is usually the one behind the
/// one before, one comparison finds it, and its JSON needs only to be copied. A bit for each key tells an object which
/// of them it has already.
struct KeyTable {
    /// What is needed to write a key. It is trivial, so that reading it counts no references.
    struct Entry {
        /// The identity of the key's string, which ``Name`` keeps alive.
        let identity: TextIdentity
        /// A comma, the key in quotation marks and a colon; ``padding`` readable bytes lie behind them.
        let json: UnsafeMutableRawPointer
        /// How many bytes the JSON has, the comma included.
        let length: Int
    }

    /// What is needed to tell a key from others.
    struct Name {
        /// The key's string.
        let text: String
        /// The key itself, if it may be kept: if it refers to nothing.
        let key: (any CodingKey)?

        /// Whether a key has the same bytes as this one, not just characters that count as the same.
        func isSpelled(_ other: String) -> Bool {
            text.utf8.elementsEqual(other.utf8)
        }
    }

    /// How many keys a table takes: as many as a word has bits.
    static let limit = 64
    /// How many bytes of UTF-8 a key has at most that a table takes, so that tables stay small.
    static let longestKey = 64
    /// How many bytes are readable behind the JSON of a key.
    static let padding = 8

    /// How many keys there are, at most ``limit``.
    private(set) var count = 0
    /// Whether there was a key that didn't fit, so that tables are of no use for such objects.
    private(set) var isOverfull = false
    /// Room for `capacity` entries, of which the first `count` are initialized.
    private var entries: UnsafeMutablePointer<Entry>
    private var capacity = 8
    /// The names of the entries, at the same places.
    private(set) var names: [Name] = []

    /// The ``ContainerMaker`` for the table's type of keys.
    let maker: AnyObject

    /// Makes an empty table, which its owner has to deallocate.
    ///
    /// - Parameter maker: The ``ContainerMaker`` for the table's type of keys.
    init(maker: AnyObject) {
        self.maker = maker
        entries = .allocate(capacity: capacity)
    }

    /// Frees the memory; the table must not be used afterwards.
    func deallocate() {
        // In bounds: the first `count` entries are initialized.
        for index in 0..<count { entries[index].json.deallocate() }
        entries.deallocate()
    }

    /// The entry at a place below `count`.
    @inline(__always)
    subscript(place: Int) -> UnsafeMutablePointer<Entry> {
        // In bounds, as the caller knows that place < count.
        entries + place
    }

    /// Finds a key: behind the one before if possible, else anywhere.
    ///
    /// - Returns: Its place, or `nil` if the table doesn't have it.
    @inline(__always)
    func place(of text: String, expectedAt expected: Int) -> Int? {
        // In bounds, as checked here.
        if expected < count, (entries + expected).pointee.identity == TextIdentity(text) { return expected }
        return place(of: text, behind: expected)
    }

    /// Finds a key that isn't known by its identity where it was expected, by comparing it with all, the ones behind first.
    @inline(never)
    private func place(of text: String, behind expected: Int) -> Int? {
        let behind = min(expected, count)
        return names[behind...].firstIndex { $0.isSpelled(text) } ?? names[..<behind].firstIndex { $0.isSpelled(text) }
    }

    /// Adds a key that the table doesn't have.
    ///
    /// - Parameters:
    ///   - text: The key's string.
    ///   - key: The key itself, if it may be kept.
    /// - Returns: Its place, or `nil` if the table is full or the key too long; the table is overfull then.
    mutating func add(_ text: String, key: (any CodingKey)?) -> Int? {
        // A key that is spelled in two ways is one key.
        let isSpelledOtherwise = names.contains { $0.text == text }
        guard count < Self.limit, text.utf8.count <= Self.longestKey, !isSpelledOtherwise else {
            isOverfull = true
            return nil
        }
        if count == capacity { grow() }
        var buffer = OutputBuffer(capacity: Self.longestKey)
        defer { buffer.deallocate() }
        buffer.append(UInt8(ascii: ","))
        buffer.append(text)
        buffer.append(UInt8(ascii: ":"))
        let json = UnsafeMutableRawPointer.allocate(byteCount: buffer.count + Self.padding, alignment: 8)
        // In bounds: as many bytes are written in the buffer, and allocated here, padding included.
        json.copyMemory(from: buffer.base, byteCount: buffer.count)
        (json + buffer.count).initializeMemory(as: UInt8.self, repeating: 0, count: Self.padding)
        // In bounds: count < capacity.
        (entries + count).initialize(to: Entry(identity: TextIdentity(text), json: json, length: buffer.count))
        names.append(Name(text: text, key: key))
        count += 1
        return count - 1
    }

    /// Moves to memory of twice the size, but for no more than ``limit`` entries.
    private mutating func grow() {
        let larger = min(capacity * 2, Self.limit)
        let memory = UnsafeMutablePointer<Entry>.allocate(capacity: larger)
        // In bounds: count == capacity < limit, so `larger` is larger than `count`.
        memory.moveInitialize(from: entries, count: count)
        entries.deallocate()
        entries = memory
        capacity = larger
    }
}
