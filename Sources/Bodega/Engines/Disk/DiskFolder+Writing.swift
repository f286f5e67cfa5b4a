package import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension DiskFolder {

    /// Applies operations in order, all or nothing.
    package func apply(_ operations: [StorageOperation], at date: Date) throws {
        if operations.isEmpty { return }
        try writing { folder, control in
            let plan = try DiskPlan(operations, at: date, in: folder, self)
            switch plan.actions.count {
            case 0: return
            case 1: for (name, action) in plan.actions { try carryOut(action, on: name, in: folder, control) }
            default: try DiskBatch.commit(plan, in: self, folder, control)
            }
        }
    }

    /// Removes what a crash left, and finishes a batch that it interrupted.
    package func recover() throws {
        if access(controlPath, F_OK) != 0 { return }
        try writing { _, control in
            for name in ["item", "item.key"] { unlinkat(control, name, 0) }
            try DiskBatch.removeLeftovers(in: self, control)
        }
        removeControlFolderIfIdle()
    }

    /// Changes a single file: nothing but the renaming or removal counts, so it needs no batch.
    private func carryOut(_ action: DiskPlan.Action, on name: String, in folder: Int32, _ control: Int32) throws {
        switch action {
        case .remove:
            if unlinkat(folder, name, 0) != 0, errno != ENOENT {
                throw StorageError.system(errno, path + "/" + name, "removed")
            }
            DiskSidecar.remove(name, in: folder)
        case .write(let record, let content):
            let isComplete = try stage(record, content, as: "item", in: control, folder, synchronized: true)
            if isComplete {
                DiskSidecar.remove(name, in: folder)
            } else {
                try DiskSidecar.publish(DiskName.controlFolder + "/item.key", in: folder, as: name, self)
            }
            if renameat(control, "item", folder, name) != 0 {
                throw StorageError.system(errno, path + "/" + name, "written")
            }
        }
        try synchronize(folder, path)
    }

    /// Writes a file that is not an item yet, and its sidecar if the volume keeps no attribute of that size.
    ///
    /// - Parameters:
    ///   - name: The file's name for now; the sidecar's has `.key` behind it.
    ///   - directory: The folder for it.
    ///   - synchronized: Whether the file is to be made durable now.
    /// - Returns: Whether the file holds the record.
    func stage(
        _ record: DiskRecord,
        _ content: DiskPlan.Content,
        as name: String,
        in directory: Int32,
        _ folder: Int32,
        synchronized: Bool
    ) throws -> Bool {
        let data: Data
        switch content {
        case .data(let bytes): data = bytes
        case .file(let source): data = try DiskFile.open(source, in: folder, self)?.read(self) ?? Data()
        }
        let bytes = record.bytes
        let isComplete = try create(name, in: directory, data, synchronized) { DiskAttribute.set(bytes, of: $0) }
        if !isComplete {
            _ = try create(name + ".key", in: directory, Data(bytes), synchronized)
        }
        return isComplete
    }

    /// Creates a file for our own purposes.
    ///
    /// - Parameter finish: Does something more with the file before it is made durable.
    func create(
        _ name: String,
        in directory: Int32,
        _ data: Data,
        _ synchronized: Bool,
        finish: (Int32) -> Bool = { _ in true }
    ) throws -> Bool {
        let path = { self.controlPath + "/" + name }
        let descriptor = try FileSystem.check(path(), "created") {
            openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
        }
        defer { close(descriptor) }
        do {
            try data.withUnsafeBytes { bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count = try FileSystem.check(path(), "written") {
                        // In bounds: the address and size of `rest`, which is not empty.
                        write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                    }
                    rest = rest.dropFirst(count)
                }
            }
            let result = finish(descriptor)
            if synchronized { try synchronize(descriptor, path()) }
            return result
        } catch {
            // The space is needed now, not when somebody cleans up.
            unlinkat(directory, name, 0)
            throw error
        }
    }
}
