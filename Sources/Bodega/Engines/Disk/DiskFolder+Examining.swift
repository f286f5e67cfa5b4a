import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension DiskStorageEngine: ExaminableStorageEngine {

    /// Examines the folder: whether all items can be read, and what is there besides items.
    public func examine() async throws -> [StorageFinding] {
        try await reading { try $0.examine() }
    }

    /// Removes what writes that were stopped have left, and records whose items are gone.
    ///
    /// - Throws: A ``StorageError``, ``StorageError/Code/readOnly`` if the folder was opened for reading only.
    public func tidyUp() async throws {
        try await writing { try $0.tidyUp() }
    }
}

extension DiskFolder {

    /// Looks for damage and remains.
    func examine() throws -> [StorageFinding] {
        try readingMany { folder in
            var findings = try remains(in: folder)
            for name in try FileSystem.others(in: folder, path).sorted() where name != DiskName.controlFolder {
                findings.append(.init(.remark, "It is no file, so it is no item.", file: file(name)))
            }
            for name in try names(in: folder) {
                do {
                    guard let file = try DiskFile.open(name, in: folder, self) else { continue }
                    _ = try file.read(self)
                } catch let error as StorageError {
                    findings.append(.init(.problem, "It can't be read: \(error)", file: file(name)))
                }
            }
            return findings
        }
    }

    /// What is in the folder for our own purposes and isn't needed, unless somebody writes just now.
    private func remains(in folder: Int32) throws -> [StorageFinding] {
        guard
            let control = try FileSystem.openIfPresent(
                DiskName.controlFolder, in: folder, O_RDONLY | O_DIRECTORY, controlPath)
        else { return [] }
        defer { FileSystem.closeLocked(control) }
        guard flock(control, LOCK_SH | LOCK_NB) == 0 else { return [] }
        var findings: [StorageFinding] = []
        for name in ["item", "item.key", "staging", "done"] where try FileSystem.exists(name, in: control, controlPath)
        {
            let message = "It is left of a write that was stopped. The next one removes it."
            findings.append(.init(.remark, message, file: file("\(DiskName.controlFolder)/\(name)")))
        }
        for name in try orphans(in: folder, control) {
            let message = "It is the record of an item that is gone. Compacting the store removes it."
            findings.append(.init(.remark, message, file: file(DiskSidecar.path(name))))
        }
        return findings
    }

    /// The names of records whose items are gone.
    private func orphans(in folder: Int32, _ control: Int32) throws -> [String] {
        guard let keys = try FileSystem.openIfPresent("keys", in: control, O_RDONLY | O_DIRECTORY, keysPath) else {
            return []
        }
        defer { close(keys) }
        return try FileSystem.files(in: keys, keysPath).filter { try !FileSystem.exists($0, in: folder, path) }.sorted()
    }

    /// Removes what ``examine()`` finds to be left over.
    package func tidyUp() throws {
        try recover()
        try writing { folder, control in
            for name in try orphans(in: folder, control) { DiskSidecar.remove(name, in: folder) }
            // Fails if there is something in it, which is then needed.
            unlinkat(control, "keys", AT_REMOVEDIR)
        }
        removeControlFolderIfIdle()
    }

    private func file(_ name: String) -> URL {
        URL(fileURLWithPath: path + "/" + name)
    }
}
