import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension DiskStorageEngine {

    /// Checks whether all items can be read and whether the record of each is sound and belongs to its file, and looks
    /// for empty items, for entries of the folder that are not items, and for leftovers.
    ///
    /// Files have no checksums, and a folder has no list of them: changed or missing bytes, changed dates and removed
    /// files are not noticed.
    public func examine() async throws -> [StorageFinding] {
        try await reading { try $0.examine() }
    }

    /// Removes the leftovers of interrupted writes, and records whose items no longer exist.
    ///
    /// - Throws: A ``StorageError``, ``StorageError/Code/readOnly`` if the folder was opened for reading only.
    public func removeLeftovers() async throws {
        try await writing { try $0.removeLeftovers() }
    }
}

extension DiskFolder {

    /// Looks for damage and leftovers.
    func examine() throws -> [StorageFinding] {
        try readingMany { folder in
            var findings = try leftovers(in: folder)
            for name in try FileSystem.nonFiles(in: folder, path).sorted() where name != DiskName.controlFolder {
                findings.append(
                    .init(.remark, "The entry is not a regular file and therefore not an item.", file: file(name)))
            }
            for name in try FileSystem.undecodableNames(in: folder, path).sorted() {
                let message = "The name of the file is not valid UTF-8, and therefore it is not an item. Rename it."
                findings.append(.init(.remark, message, file: file(name)))
            }
            for name in try names(in: folder) {
                try LockHolders.shared.check()
                do {
                    guard let file = try DiskFile.open(name, in: folder, self) else { continue }
                    findings += try examine(file, in: folder)
                } catch let error as StorageError {
                    findings.append(.init(.problem, "The file can't be read: \(error.summary)", file: file(name)))
                }
            }
            return findings
        }
    }

    /// The entries of the control folder that are no longer needed, unless a process is writing.
    private func leftovers(in folder: Int32) throws -> [StorageFinding] {
        guard
            let control = try FileSystem.openIfPresent(
                DiskName.controlFolder, in: folder, O_RDONLY | O_DIRECTORY, controlPath)
        else { return [] }
        defer { FileSystem.closeLocked(control) }
        guard FileSystem.tryLock(control, LOCK_SH) else { return [] }
        var findings: [StorageFinding] = []
        for name in ["item", "item.key", "staging", "done"] where try FileSystem.exists(name, in: control, controlPath)
        {
            let message = "The file is left over from an interrupted write. The next write removes it."
            findings.append(.init(.remark, message, file: file("\(DiskName.controlFolder)/\(name)")))
        }
        for name in try orphans(in: folder, control) {
            let message = """
                The file is the record of an item whose file is missing: the item was removed, or another program has \
                removed the file. Compacting the store removes the record.
                """
            findings.append(.init(.remark, message, file: file(DiskSidecar.path(name))))
        }
        return findings
    }

    /// The names of records whose items no longer exist.
    private func orphans(in folder: Int32, _ control: Int32) throws -> [String] {
        guard let keys = try FileSystem.openIfPresent("keys", in: control, O_RDONLY | O_DIRECTORY, keysPath) else {
            return []
        }
        defer { close(keys) }
        return try FileSystem.files(in: keys, keysPath).filter { try !FileSystem.exists($0, in: folder, path) }.sorted()
    }

    /// Removes the leftovers that ``examine()`` finds.
    package func removeLeftovers() throws {
        try recover()
        try writing { folder, control in
            for name in try orphans(in: folder, control) { DiskSidecar.remove(name, in: folder) }
            // Fails if the folder is not empty; its contents are then needed.
            unlinkat(control, "keys", AT_REMOVEDIR)
        }
        removeControlFolderIfIdle()
    }

    private func file(_ name: String) -> URL {
        URL(fileURLWithPath: path + "/" + name)
    }
}
