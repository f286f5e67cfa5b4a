import Bodega
import Foundation

/// Records that are the files in a folder and its subfolders, sorted by name folder by folder. The key of each is its
/// path in the folder, verbatim.
///
/// Symbolic links, sockets and devices are left out. A file or folder is a bad record if
/// it can't be read, or if its name is not UTF-8: keys are text.
struct FolderRecords: RecordSource {
    private let root: [UInt8]
    /// The paths to visit, relative to the root, the next last. They are bytes because names may be invalid UTF-8.
    private var pending: [[UInt8]]
    private(set) var progress = 0
    var total: Int? { nil }

    /// Reads a folder.
    ///
    /// - Throws: A ``ToolError`` if it can't be read.
    init(root: URL) throws {
        self.root = Array((root.path + "/").utf8)
        self.pending = []
        guard visit([]) else { throw ToolError(.failure, "\(root.path) can't be read: \(lastErrorText).") }
    }

    mutating func next() throws -> ImportRecord? {
        while let path = pending.popLast() {
            guard let status = FileStatus(path: root + path, followingLinks: false) else { throw unreadable(path) }
            guard status.isFolder || status.isRegular else { continue }
            guard let name = String(validating: path, as: UTF8.self) else {
                let reason = "Its name is not valid UTF-8, so it can't be a key."
                throw BadRecord(place: String(decoding: path, as: UTF8.self), number: nil, reason: reason)
            }
            if status.isFolder {
                guard visit(path + Array("/".utf8)) else { throw unreadable(path) }
                continue
            }
            let data: Data
            do {
                data = try Data(contentsOf: URL(fileURLWithPath: String(decoding: root, as: UTF8.self) + name))
            } catch {
                throw unreadable(path, error.localizedDescription)
            }
            progress += 1
            return ImportRecord(key: CacheKey(verbatim: name), data: data)
        }
        return nil
    }

    /// Adds the entries of a folder to the pending paths, if it can be read; if not, `errno` has the reason.
    private mutating func visit(_ prefix: [UInt8]) -> Bool {
        guard let names = systemNames(inFolder: root + prefix) else { return false }
        pending += names.sorted { $0.lexicographicallyPrecedes($1) }.reversed().map { prefix + $0 }
        return true
    }

    /// The error for a path, by default with the system's reason.
    private func unreadable(_ path: [UInt8], _ reason: String = lastErrorText + ".") -> BadRecord {
        let place = String(decoding: path, as: UTF8.self)
        return BadRecord(place: place, number: nil, reason: "It can't be read: \(reason)", status: .failure)
    }
}
