/// The keys of one type of objects, in the order of their first use, with their JSON.
///
/// Objects of one type nearly always have the same keys in the same order. So the next key usually follows in the
/// table: one comparison finds it, and its JSON is copied. An object has a bit for each key to detect duplicates.
struct KeyTable {
    /// The data for writing a key. The type is trivial, so reading it involves no reference counting.
    struct Entry {
        /// The identity of the key's string, which ``Name`` keeps alive.
        let identity: TextIdentity
        /// A comma, the key in quotation marks and a colon, followed by ``padding`` readable bytes.
        let json: UnsafeMutableRawPointer
        /// The number of bytes in the JSON, including the comma.
        let length: Int
    }

    /// The data for comparing a key with others.
    struct Name {
        /// The key's string.
        let text: String
        /// The key itself, if it holds no references.
        let key: (any CodingKey)?

        /// Whether a key has the same bytes as this one. Canonically equivalent strings may differ in their bytes.
        func isSpelled(_ other: String) -> Bool {
            text.utf8.elementsEqual(other.utf8)
        }
    }

    /// The maximum number of keys, the number of bits in a word.
    static let limit = 64
    /// The maximum length of a key in bytes of UTF-8, so that tables stay small.
    static let longestKey = 64
    /// The number of readable bytes after the JSON of a key.
    static let padding = 8

    /// The number of keys, at most ``limit``.
    private(set) var count = 0
    /// Whether some key didn't fit, so that objects of this type no longer use the table.
    private(set) var isOverfull = false
    /// Memory for `capacity` entries, of which the first `count` are initialized.
    private var entries: UnsafeMutablePointer<Entry>
    private var capacity = 8
    private(set) var names: [Name] = []

    /// The ``ContainerMaker`` for the table's type of keys.
    let maker: AnyObject

    /// Makes an empty table. The owner must deallocate it.
    ///
    /// - Parameter maker: The ``ContainerMaker`` for the table's type of keys.
    init(maker: AnyObject) {
        self.maker = maker
        entries = .allocate(capacity: capacity)
    }

    /// Frees the memory. The table must not be used afterwards.
    func deallocate() {
        // In bounds: the first `count` entries are initialized.
        for index in 0..<count { entries[index].json.deallocate() }
        entries.deallocate()
    }

    /// The entry at an index below `count`.
    @inline(__always)
    subscript(place: Int) -> UnsafeMutablePointer<Entry> {
        // In bounds: the caller ensures that place < count.
        entries + place
    }

    /// Finds a key, at the expected index if possible.
    ///
    /// - Returns: The key's index, or `nil` if the table doesn't have it.
    @inline(__always)
    func place(of text: String, expectedAt expected: Int) -> Int? {
        // In bounds: checked here.
        if expected < count, (entries + expected).pointee.identity == TextIdentity(text) { return expected }
        return place(of: text, behind: expected)
    }

    /// Finds a key by comparing it with all keys, those after the expected index first.
    @inline(never)
    private func place(of text: String, behind expected: Int) -> Int? {
        let behind = min(expected, count)
        return names[behind...].firstIndex { $0.isSpelled(text) } ?? names[..<behind].firstIndex { $0.isSpelled(text) }
    }

    /// Adds a key that the table doesn't have.
    ///
    /// - Parameters:
    ///   - text: The key's string.
    ///   - key: The key itself, if it holds no references.
    /// - Returns: The key's index, or `nil` if the table is full or the key is too long. The table is overfull then.
    mutating func add(_ text: String, key: (any CodingKey)?) -> Int? {
        // Canonically equivalent keys are the same key.
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
        // In bounds: the buffer holds that many bytes, and the allocation has room for them and the padding.
        json.copyMemory(from: buffer.base, byteCount: buffer.count)
        (json + buffer.count).initializeMemory(as: UInt8.self, repeating: 0, count: Self.padding)
        // In bounds: count < capacity.
        (entries + count).initialize(to: Entry(identity: TextIdentity(text), json: json, length: buffer.count))
        names.append(Name(text: text, key: key))
        count += 1
        return count - 1
    }

    /// Doubles the capacity, up to ``limit`` entries.
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
