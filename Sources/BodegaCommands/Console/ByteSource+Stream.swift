import Bodega
import Foundation

extension ByteSource {

    /// The rest of the bytes, as a stream that can be read once.
    var stream: StorageByteStream { StorageByteStream(Parts(source: self)) }
}

private struct Parts: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let source: any ByteSource

    func next() async throws -> Data? {
        var part = Data(count: 1 << 20)
        let count = try part.withUnsafeMutableBytes { try source.read(into: $0) }
        return count == 0 ? nil : part.prefix(count)
    }

    func makeAsyncIterator() -> Parts { self }
}
