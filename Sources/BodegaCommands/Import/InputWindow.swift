import Foundation

/// A part of an input that moves along it: bytes are added at its end and consumed at its start.
///
/// It holds no more than what was asked for and is not consumed yet, and a chunk.
struct InputWindow {
    private let source: any ByteSource
    private let chunkSize: Int
    private var storage: [UInt8] = []
    private var start = 0

    /// Whether the end of the input has been reached.
    private(set) var isComplete = false
    /// How many bytes of the input have been consumed.
    private(set) var consumed = 0

    init(_ source: any ByteSource, chunkSize: Int = 1 << 20) {
        self.source = source
        self.chunkSize = chunkSize
    }

    /// The number of bytes in the window.
    var count: Int { storage.count - start }

    /// Looks at the bytes in the window.
    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try storage.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[start...])) }
    }

    /// Adds bytes at the end: a chunk, or as many as there are, so that looking at a long value again and again while
    /// it grows takes linear time in total.
    ///
    /// - Returns: Whether there were any.
    mutating func readMore() throws -> Bool {
        guard !isComplete else { return false }
        if start > 0 {
            storage.removeSubrange(..<start)
            start = 0
        }
        let old = storage.count
        let size = max(chunkSize, old)
        storage.append(contentsOf: repeatElement(0, count: size))
        let count = try storage.withUnsafeMutableBytes { try Self.fill($0[old...], from: source) }
        storage.removeLast(size - count)
        if count == 0 { isComplete = true }
        return count > 0
    }

    /// Drops bytes from the start.
    mutating func consume(_ count: Int) {
        start += count
        consumed += count
    }

    /// Reads until a buffer is full or the input ends: pipes give little at a time.
    private static func fill(
        _ buffer: Slice<UnsafeMutableRawBufferPointer>,
        from source: any ByteSource
    ) throws -> Int {
        let buffer = UnsafeMutableRawBufferPointer(rebasing: buffer)
        var filled = 0
        while filled < buffer.count {
            let count = try source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
            if count == 0 { break }
            filled += count
        }
        return filled
    }
}
