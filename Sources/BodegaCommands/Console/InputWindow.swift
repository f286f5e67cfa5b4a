import Foundation

/// A buffer that moves along an input: bytes are added at its end and consumed at its start.
///
/// It holds at most the bytes that were requested and not consumed yet, plus one chunk. Each read of a pipe returns the
/// bytes that are there, so that their records don't wait for the writer's next ones.
struct InputWindow {
    private let source: any ByteSource
    private let chunkSize = 1 << 20
    /// The buffer; the window is a part of it.
    private var storage = Data()
    private var range = 0..<0

    /// Whether the end of the input has been reached.
    private(set) var isComplete = false
    /// The number of bytes of the input that have been consumed.
    private(set) var consumed = 0

    /// Whether reading can wait for a writer.
    let canWait: Bool

    init(_ source: any ByteSource) {
        self.source = source
        self.canWait = source.canWait
    }

    /// The number of bytes in the window.
    var count: Int { range.count }

    /// Gives access to the bytes in the window.
    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try storage.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// Adds bytes at the end: those that are there, at most a chunk, or as many as the window holds.
    ///
    /// - Returns: Whether bytes were added; if not, this is the end.
    mutating func readMore() throws -> Bool {
        guard !isComplete else { return false }
        let wanted = max(chunkSize, count)
        makeRoom(for: wanted)
        let end = range.upperBound
        let added = try storage.withUnsafeMutableBytes { bytes in
            try source.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[end..<end + wanted]))
        }
        range = 0..<end + added
        if added == 0 { isComplete = true }
        return added > 0
    }

    /// Adds bytes at the end until the window is twice as large, or the writer pauses: repeatedly scanning a long value
    /// while it grows then takes linear time in total, or no longer than the pauses.
    ///
    /// - Returns: Whether bytes were added; if not, this is the end.
    mutating func grow() throws -> Bool {
        let wanted = 2 * count
        guard try readMore() else { return false }
        while count < wanted, source.awaitBytes(seconds: pause), try readMore() {}
        return true
    }

    /// Adds bytes at the end, like ``grow()``, if they are there within some time.
    ///
    /// - Returns: Whether bytes were added, or the end was found.
    mutating func grow(within seconds: Double) throws -> Bool {
        if isComplete || !source.awaitBytes(seconds: seconds) { return false }
        _ = try grow()
        return true
    }

    /// The seconds after which a writer pauses: as many as scanning the window takes, at least a millisecond.
    private var pause: Double { max(0.001, Double(count) / 200_000_000) }

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
}
