/// The bytes of the record being written: raw memory that grows by doubling.
///
/// The memory has ``slack`` bytes more than `capacity`. After `reserve(n)` the bytes from `count` up to `count + n +
/// slack` are writable, so code that copies words of eight bytes may write past the end of its data. A comment at each
/// write explains why it stays in bounds.
struct OutputBuffer {
    /// The number of writable bytes after `capacity`.
    static let slack = 64

    /// The address of the first of `capacity + slack` bytes.
    private(set) var base: UnsafeMutableRawPointer
    /// The number of written bytes, at most `capacity`.
    private(set) var count = 0
    /// The number of bytes that fit before the buffer has to grow.
    private(set) var capacity: Int

    /// Allocates an empty buffer. The owner must deallocate it.
    init(capacity: Int) {
        self.capacity = capacity
        base = .allocate(byteCount: capacity + Self.slack, alignment: 16)
    }

    /// Frees the memory. The buffer must not be used afterwards.
    func deallocate() {
        base.deallocate()
    }

    /// Removes all bytes and keeps the memory.
    mutating func removeAll() {
        count = 0
    }

    /// The last byte. The buffer must not be empty.
    @inline(__always)
    var last: UInt8 {
        // In bounds: the caller ensures that count > 0, and count <= capacity.
        base.load(fromByteOffset: count &- 1, as: UInt8.self)
    }

    /// Makes room for a number of bytes and the slack after them.
    @inline(__always)
    mutating func reserve(_ extra: Int) {
        if extra > capacity &- count { grow(by: extra) }
    }

    /// The place of the next byte.
    @inline(__always)
    var end: UnsafeMutableRawPointer { base + count }

    /// Advances `end` past bytes that the caller has reserved and stored there.
    @inline(__always)
    mutating func advance(by written: Int) {
        count &+= written
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1)
        // In bounds: one byte is reserved.
        end.storeBytes(of: byte, as: UInt8.self)
        advance(by: 1)
    }

    /// Appends up to four bytes of a word, the lowest one first.
    @inline(__always)
    mutating func append(word: UInt32, count length: Int) {
        reserve(4)
        // In bounds: four bytes are reserved, and length <= 4.
        end.storeBytes(of: word.littleEndian, as: UInt32.self)
        advance(by: length)
    }

    mutating func appendNull() {
        append(word: 0x6C6C_756E, count: 4)
    }

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

    /// Grows to at least twice the capacity.
    @inline(never)
    private mutating func grow(by extra: Int) {
        // Traps on overflow: no such amount of memory exists.
        let larger = max(capacity * 2, count + extra)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: larger + Self.slack, alignment: 16)
        // In bounds: count <= capacity < larger.
        memory.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = memory
        capacity = larger
    }
}
