import Foundation

/// One direction of a connection: what one side has sent and the other is still to receive.
struct ProxyFlow {

    private struct Chunk {
        var bytes: ArraySlice<UInt8>
        var due: ContinuousClock.Instant
    }

    var isFrozen = false
    private var chunks: [Chunk] = []
    private var size = 0
    /// Whether the source sends nothing more.
    private(set) var hasEnded = false
    /// Whether the destination receives nothing more. The source does not learn that from the proxy.
    private(set) var isBroken = false
    /// Whether the end has been passed on.
    private(set) var isOver = false

    /// What is kept of a frozen flow before the source has to wait.
    private static let capacity = 4 << 20

    var canReceive: Bool { !hasEnded && size < Self.capacity }

    /// The time from which there is something to pass on, or `nil` if there is nothing or it is frozen.
    var due: ContinuousClock.Instant? {
        isFrozen ? nil : chunks.first?.due
    }

    /// Takes what the source has sent.
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

    /// Passes on what is due, and the end after everything else.
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
