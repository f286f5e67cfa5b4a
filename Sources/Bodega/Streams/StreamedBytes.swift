package import Foundation

/// The bytes of a stream that has ended: few of them in memory, many in a file.
package enum StreamedBytes: Sendable {
    case data(Data)
    case file(StreamFile)

    /// Reads a stream to its end. More bytes than a part go to a temporary file, unless they are in memory or in a
    /// file.
    ///
    /// - Throws: A ``StorageError`` if the temporary file can't be written, or the error of the stream.
    package init(of stream: StorageByteStream) async throws {
        switch stream.source {
        case .data(let data):
            self = .data(data)
        case .stored(let file as StreamFile) where file.count > StreamFile.partSize:
            self = .file(file)
        case .stored, .parts:
            var (beginning, file) = (Data(), StreamFile?.none)
            for try await part in stream {
                if file == nil, beginning.count + part.count <= StreamFile.partSize {
                    beginning.append(part)
                    continue
                }
                if file == nil {
                    file = try StreamFile.temporary()
                    try await file?.append(beginning)
                }
                try await file?.append(part)
            }
            self = file.map { .file($0) } ?? .data(beginning)
        }
    }

    /// The number of bytes.
    package var count: Int {
        switch self {
        case .data(let data): data.count
        case .file(let file): file.count
        }
    }

    /// The bytes as a stream.
    package var stream: StorageByteStream {
        switch self {
        case .data(let data): StorageByteStream(data)
        case .file(let file): StorageByteStream(file)
        }
    }
}
