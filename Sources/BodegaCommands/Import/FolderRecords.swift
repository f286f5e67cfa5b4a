import Bodega
package import Foundation

/// Records that are the files in a folder and its subfolders, sorted by name folder by folder. The key of each is its
/// path in the folder, verbatim.
///
/// Symbolic links are not followed, and like sockets and devices they are left out.
package struct FolderRecords: RecordSource {
    private let root: URL
    /// What is still to be visited: paths relative to the root, the next one last.
    private var pending: [String]
    package private(set) var progress = 0
    package var total: Int? { nil }

    /// Reads a folder.
    ///
    /// - Parameter root: The folder.
    /// - Throws: A ``ToolError`` if it can't be read.
    package init(root: URL) throws {
        self.root = root
        self.pending = []
        do {
            try visit("")
        } catch {
            throw ToolError(.failure, "\(root.path) can't be read: \(error.localizedDescription)")
        }
    }

    package mutating func next() throws -> ImportRecord? {
        while let path = pending.popLast() {
            let url = root.appendingPathComponent(path, isDirectory: false)
            do {
                switch try FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType {
                case .typeDirectory?:
                    try visit(path + "/")
                case .typeRegular?:
                    let data = try Data(contentsOf: url)
                    progress += 1
                    return ImportRecord(key: CacheKey(verbatim: path), data: data)
                default:
                    break
                }
            } catch {
                throw BadRecord(place: path, number: nil, reason: "It can't be read: \(error.localizedDescription)")
            }
        }
        return nil
    }

    private mutating func visit(_ prefix: String) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(prefix).path)
        pending += names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.reversed().map { prefix + $0 }
    }
}
