package import Foundation

/// The machine and build that the results depend on.
package enum Machine {
    /// The number of processors that the process may use.
    package static var processors: Int { ProcessInfo.processInfo.activeProcessorCount }

    /// The name of the operating system and its version.
    package static var system: String { ProcessInfo.processInfo.operatingSystemVersionString }

    /// Whether this code was compiled with optimization. Without it the results are meaningless.
    package static var isOptimized: Bool {
        var isDebug = false
        assert(
            {
                isDebug = true; return true
            }())
        return !isDebug
    }

    /// The type of a folder's file system, such as `ext4`, or `nil` if it is unknown.
    package static func fileSystem(of folder: URL) -> String? {
        #if canImport(Darwin)
        try? folder.resourceValues(forKeys: [.volumeTypeNameKey]).volumeTypeName
        #else
        guard let mounts = try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8) else { return nil }
        return fileSystem(of: folder.resolvingSymlinksInPath().path, mounts: mounts)
        #endif
    }

    /// The type of the innermost mount of a path; of several mounts at one point, the last.
    ///
    /// - Parameters:
    ///   - path: An absolute path without symbolic links.
    ///   - mounts: The contents of `/proc/self/mounts`.
    package static func fileSystem(of path: String, mounts: String) -> String? {
        var innermost: (point: Substring, type: Substring)?
        for line in mounts.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count >= 3 else { continue }
            let point = fields[1]
            let isAbove = point == "/" || path == point || path.hasPrefix(point + "/")
            if isAbove, point.count >= innermost?.point.count ?? 0 { innermost = (point, fields[2]) }
        }
        return innermost.map { String($0.type) }
    }
}
