import Foundation

/// A buffer that moves along an input: bytes are added at its end and consumed at its start.
///
/// It holds at most the bytes that were requested and not consumed yet, plus one chunk.
struct InputWindow {
    private let source: any ByteSource
    private let chunkSize: Int
    /// The buffer; the window is a part of it.
    private var storage = Data()
    private var range = 0..<0

    /// Whether the end of the input has been reached.
    private(set) var isComplete = false
    /// The number of bytes of the input that have been consumed.
    private(set) var consumed = 0

    init(_ source: any ByteSource, chunkSize: Int = 1 << 20) {
        self.source = source
        self.chunkSize = chunkSize
    }

    /// The number of bytes in the window.
    var count: Int { range.count }

    /// Gives access to the bytes in the window.
    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try storage.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// Adds bytes at the end: a chunk, or as many as the window holds, so that repeatedly scanning a long value while
    /// it grows takes linear time in total.
    ///
    /// - Returns: Whether bytes were added.
    mutating func readMore() throws -> Bool {
        guard !isComplete else { return false }
        let wanted = max(chunkSize, count)
        makeRoom(for: wanted)
        let end = range.upperBound
        let added = try storage.withUnsafeMutableBytes { try Self.fill($0[end..<end + wanted], from: source) }
        range = 0..<end + added
        if added == 0 { isComplete = true }
        return added > 0
    }

    /// Moves the window to the start of the storage, which grows if necessary.
    private mutating func makeRoom(for wanted: Int) {
        let needed = count + wanted
        if storage.count < needed {
            var larger = Data(count: needed)
            larger.withUnsafeMutableBytes { larger in withUnsafeBytes(larger.copyMemory) }
            storage = larger
        } else if range.lowerBound > 0 {
            storage.withUnsafeMutableBytes { [range] bytes in
                // The two regions may overlap; copyMemory allows that.
                bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
            }
        }
        range = 0..<count
    }

    /// Drops bytes from the start.
    mutating func consume(_ count: Int) {
        range = range.lowerBound + count..<range.upperBound
        consumed += count
    }

    /// Reads until a buffer is full or the input ends: a pipe returns few bytes per read.
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
