package import Foundation

/// A snapshot of a folder's contents, which shows whether a program has changed anything.
package struct Listing: Equatable, Sendable, CustomStringConvertible {
    private struct Entry: Equatable {
        var size: Int
        var modified: Date?
        var contents: Data?
    }

    private var entries: [String: Entry] = [:]

    /// Reads a folder recursively. Links are not followed.
    package init(of folder: URL) throws {
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) + [""] {
            let file = folder.appendingPathComponent(name)
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            let isFile = attributes[.type] as? FileAttributeType == .typeRegular
            entries[name] = Entry(
                size: (attributes[.size] as? NSNumber)?.intValue ?? 0,
                modified: attributes[.modificationDate] as? Date,
                contents: isFile ? try Data(contentsOf: file) : nil
            )
        }
    }

    /// The names, sizes and times.
    package var description: String {
        entries.sorted { $0.key < $1.key }.map {
            """
            \($0.key): \($0.value.size) \($0.value.modified?.timeIntervalSince1970 ?? 0) \
            \($0.value.contents?.hashValue ?? 0)
            """
        }.joined(separator: "\n")
    }
}
