package import Foundation

/// A small volume in memory, for tests that fill it.
package struct Volume {
    private let path: String

    /// Whether this process may mount volumes. A message is printed if not, because tests are skipped then.
    package static let canMount: Bool = {
        let folder = TemporaryFolder()
        do {
            try Volume(at: folder, size: "1m").unmount()
            return true
        } catch {
            print("Volumes cannot be mounted here, so tests that fill one are skipped: \(error)")
            return false
        }
    }()

    package init(at folder: TemporaryFolder, size: String) throws {
        path = folder.path
        try Self.run("mount", "-t", "tmpfs", "-o", "size=\(size)", "tmpfs", path)
    }

    /// Mounts a file over itself, which keeps it from being renamed or removed.
    package init(over file: URL) throws {
        path = file.path
        try Self.run("mount", "--bind", path, path)
    }

    /// Makes the volume read-only from now on.
    package func makeReadOnly() throws {
        try Self.run("mount", "-o", "remount,ro", path)
    }

    package func unmount() {
        do {
            try Self.run("umount", "-l", path)
        } catch {
            print("A volume could not be unmounted: \(error)")
        }
    }

    private static func run(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw CocoaError(.fileWriteNoPermission) }
    }
}
