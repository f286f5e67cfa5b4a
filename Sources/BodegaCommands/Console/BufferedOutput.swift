import Foundation

/// Collects small writes into large ones. Call ``flush()`` at the end.
struct BufferedOutput {
    private let sink: any ByteSink
    private var buffer: [UInt8] = []
    private static let capacity = 64 * 1024

    /// Writes to a sink.
    init(_ sink: any ByteSink) {
        self.sink = sink
        buffer.reserveCapacity(Self.capacity)
    }

    mutating func write(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try write(raw: $0) } }

    mutating func write(_ data: Data) throws {
        // This makes discontiguous data contiguous.
        try data.withUnsafeBytes { try write(raw: $0) }
    }

    /// Writes a text as UTF-8.
    mutating func write(_ text: String) throws {
        var text = text
        try text.withUTF8 { try write(raw: UnsafeRawBufferPointer($0)) }
    }

    private mutating func write(raw bytes: UnsafeRawBufferPointer) throws {
        if buffer.count + bytes.count > Self.capacity { try flush() }
        if bytes.count > Self.capacity {
            try sink.write(bytes)
        } else {
            buffer.append(contentsOf: bytes)
        }
    }

    /// Writes the collected bytes to the sink.
    mutating func flush() throws {
        guard !buffer.isEmpty else { return }
        try buffer.withUnsafeBytes { try sink.write($0) }
        buffer.removeAll(keepingCapacity: true)
    }
}
