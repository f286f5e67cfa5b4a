import Foundation

/// One direction of a connection: the bytes that one side has sent and the other has not received.
struct ProxyFlow {

    private struct Chunk {
        var bytes: ArraySlice<UInt8>
        var due: ContinuousClock.Instant
    }

    var isFrozen = false
    private var chunks: [Chunk] = []
    private var size = 0
    /// Whether the source has finished sending.
    private(set) var hasEnded = false
    /// Whether the destination has stopped receiving. The proxy doesn't report that to the source.
    private(set) var isBroken = false
    /// Whether the end has been forwarded.
    private(set) var isOver = false

    /// The number of bytes of a frozen flow that are buffered before the source has to wait.
    private static let capacity = 4 << 20

    var canReceive: Bool { !hasEnded && size < Self.capacity }

    /// The time at which bytes are due, or `nil` if there are none or the flow is frozen.
    var due: ContinuousClock.Instant? {
        isFrozen ? nil : chunks.first?.due
    }

    /// Receives bytes from the source.
    ///
    /// - Returns: The bytes.
    mutating func receive(from source: Int32, after delay: Duration) -> ArraySlice<UInt8> {
        let bytes = withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { buffer -> ArraySlice<UInt8> in
            switch Loopback.receive(from: source, into: buffer) {
            case .bytes(let count): return ArraySlice(buffer.prefix(count))
            case .later: break
            case .over: hasEnded = true
            }
            return []
        }
        if !bytes.isEmpty, !isBroken {
            chunks.append(Chunk(bytes: bytes, due: .now + delay))
            size += bytes.count
        }
        return bytes
    }

    /// Forwards the bytes that are due, and finally the end.
    ///
    /// - Parameter end: Ends the destination's connection in this direction.
    mutating func send(to destination: Int32, end: (Int32) -> Void) {
        while !isFrozen, let chunk = chunks.first, chunk.due <= .now {
            switch chunk.bytes.withUnsafeBytes({ Loopback.send($0, to: destination) }) {
            case .bytes(let count):
                size -= count
                if count == chunk.bytes.count {
                    chunks.removeFirst()
                } else {
                    chunks[0].bytes.removeFirst(count)
                }
            case .later: return
            case .over: breakOff()
            }
        }
        if hasEnded, !isFrozen, chunks.isEmpty, !isOver {
            isOver = true
            end(destination)
        }
    }

    private mutating func breakOff() {
        isBroken = true
        chunks = []
        size = 0
    }
}
