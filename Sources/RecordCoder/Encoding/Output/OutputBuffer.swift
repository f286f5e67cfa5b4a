/// The bytes of the record that is being written: raw memory that grows by doubling.
///
/// Behind `capacity` lie ``slack`` bytes more. After `reserve(n)` the bytes from `count` up to `count + n + slack` are
/// writable, so that copying in words of eight bytes may write past the end of what it copies. Whoever writes says in a
/// comment why it stays within that.
struct OutputBuffer {
    /// How many bytes behind `capacity` may be written, too.
    static let slack = 64

    /// The first byte. It is valid up to `capacity + slack` bytes.
    private(set) var base: UnsafeMutableRawPointer
    /// How many bytes are written; never more than `capacity`.
    private(set) var count = 0
    /// How many bytes may be written before the buffer has to grow.
    private(set) var capacity: Int

    /// Allocates an empty buffer, which its owner has to deallocate.
    init(capacity: Int) {
        self.capacity = capacity
        base = .allocate(byteCount: capacity + Self.slack, alignment: 16)
    }

    /// Frees the memory; the buffer must not be used afterwards.
    func deallocate() {
        base.deallocate()
    }

    /// Forgets what is written and keeps the memory.
    mutating func removeAll() {
        count = 0
    }

    /// The byte written last. There must be one.
    @inline(__always)
    var last: UInt8 {
        // In bounds, as the caller knows that count > 0, and as count <= capacity.
        base.load(fromByteOffset: count &- 1, as: UInt8.self)
    }

    /// Makes room for a number of bytes, and the slack behind them.
    @inline(__always)
    mutating func reserve(_ extra: Int) {
        if extra > capacity &- count { grow(by: extra) }
    }

    /// The place of the next byte.
    @inline(__always)
    var end: UnsafeMutableRawPointer { base + count }

    /// Counts bytes as written that the caller stored at `end`, after it had reserved them.
    @inline(__always)
    mutating func advance(by written: Int) {
        count &+= written
    }

    /// Appends one byte.
    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1)
        // In bounds: one byte is reserved.
        end.storeBytes(of: byte, as: UInt8.self)
        advance(by: 1)
    }

    /// Appends up to four bytes, which lie in a word with the first one lowest.
    @inline(__always)
    mutating func append(word: UInt32, count length: Int) {
        reserve(4)
        // In bounds: four bytes are reserved, and length <= 4.
        end.storeBytes(of: word.littleEndian, as: UInt32.self)
        advance(by: length)
    }

    /// Appends `null`.
    mutating func appendNull() {
        append(word: 0x6C6C_756E, count: 4)
    }

    /// Appends `true` or `false`.
    mutating func append(_ value: Bool) {
        if value {
            append(word: 0x6575_7274, count: 4)
        } else {
            append(word: 0x736C_6166, count: 4)
            append(UInt8(ascii: "e"))
        }
    }

    /// Appends bytes as they are.
    mutating func append(contentsOf bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count)
        // In bounds: bytes.count bytes are reserved.
        end.copyMemory(from: source, byteCount: bytes.count)
        advance(by: bytes.count)
    }

    /// Moves to memory of at least twice the size.
    @inline(never)
    private mutating func grow(by extra: Int) {
        // Traps on overflow, as any memory for such a size is out of reach.
        let larger = max(capacity * 2, count + extra)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: larger + Self.slack, alignment: 16)
        // In bounds: count <= capacity < larger.
        memory.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = memory
        capacity = larger
    }
}
