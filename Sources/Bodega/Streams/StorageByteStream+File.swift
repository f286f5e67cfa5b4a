public import Foundation

extension StorageByteStream {

    /// Creates a stream of the bytes of a file, which is opened now, so that it can be removed or replaced later.
    ///
    /// - Parameter file: A regular file. If it is overwritten while the stream is read, the stream can contain both old
    ///   and new bytes. If it is shortened, reading the stream throws.
    /// - Throws: A ``StorageError`` if the file can't be opened.
    public init(contentsOf file: URL) throws {
        self.init(try StreamFile(opening: file))
    }
}
