import Foundation

/// What is at a path, as far as it matters to a store.
enum FileNature: Equatable {
    case missing
    case folder
    /// A file that begins like an SQLite database.
    case sqlite
    case empty
    case otherFile

    /// Has a look, following symbolic links.
    ///
    /// - Throws: A ``ToolError`` if the file can't be read.
    init(ofPath path: String) throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            self = .missing
            return
        }
        if isFolder.boolValue {
            self = .folder
            return
        }
        // The magic header string, see https://www.sqlite.org/fileformat.html#magic_header_string
        let magic = Array("SQLite format 3\0".utf8)
        var window = InputWindow(try DescriptorSource(path: path), chunkSize: magic.count)
        while window.count < magic.count, try window.readMore() {}
        if window.count == 0 {
            self = .empty
        } else {
            self = window.withUnsafeBytes { $0.prefix(magic.count).elementsEqual(magic) } ? .sqlite : .otherFile
        }
    }
}
