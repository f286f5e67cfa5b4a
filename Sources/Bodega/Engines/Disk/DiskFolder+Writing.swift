package import Foundation
import Logging

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension DiskFolder {

    /// Applies operations in order, all or nothing.
    ///
    /// - Parameters:
    ///   - operations: The operations.
    ///   - date: The date of the writes.
    ///   - dates: The dates of items that don't get `date`.
    package func apply(
        _ operations: [StorageOperation],
        at date: Date,
        dates: [CacheKey: StorageDates] = [:]
    ) throws {
        if operations.isEmpty { return }
        try writing { folder, control in try apply(operations, at: date, dates: dates, in: folder, control) }
    }

    /// Applies operations in order, all or nothing, if items are in the expected state.
    ///
    /// Conditions and operations share the writers' lock. A batch that a crash interrupted is finished before.
    ///
    /// - Parameters:
    ///   - operations: The operations.
    ///   - conditions: The expected state of some items.
    ///   - date: The date of the writes.
    /// - Returns: Whether all conditions were met.
    func apply(_ batch: StorageBatch, at date: Date) throws -> Bool {
        if batch.operations.isEmpty, batch.conditions?.isEmpty ?? true { return true }
        return try writing { folder, control in
            guard try batch.conditions?.allSatisfy({ try isMet($0, in: folder) }) ?? true else { return false }
            if !batch.operations.isEmpty {
                try apply(batch.operations, at: date, dates: batch.dates, in: folder, control)
            }
            return true
        }
    }

    private func isMet(_ condition: StorageCondition, in folder: Int32) throws -> Bool {
        let found = try withFile(of: condition.key, in: folder) { file in
            // Items of another size need not be read.
            guard let data = condition.data, data.count == Int(file.status.st_size) else { return false }
            return try file.read(self) == data
        }
        return found ?? (condition.data == nil)
    }

    /// Writes an item with the bytes of a stream.
    ///
    /// - Parameter date: The date of the write.
    func write(_ stream: StreamFile, key: CacheKey, at date: Date) throws {
        try writing { folder, control in
            try apply(in: folder, control) { try DiskPlan(stream, key: key, at: date, in: folder, self) }
        }
    }

    /// Performs an atomic read-modify-write.
    ///
    /// - Parameters:
    ///   - date: The date of the writes.
    ///   - body: Reads items and returns the operations, applied atomically. It must not use the folder otherwise.
    package func update(at date: Date, _ body: (DiskContents) throws -> [StorageOperation]) throws {
        try writing { folder, control in
            let operations = try body(DiskContents(owner: self, folder: folder))
            if !operations.isEmpty { try apply(operations, at: date, in: folder, control) }
        }
    }

    private func apply(
        _ operations: [StorageOperation],
        at date: Date,
        dates: [CacheKey: StorageDates] = [:],
        in folder: Int32,
        _ control: Int32
    ) throws {
        try apply(in: folder, control) { try DiskPlan(operations, at: date, dates: dates, in: folder, self) }
    }

    private func apply(in folder: Int32, _ control: Int32, _ makePlan: () throws -> DiskPlan) throws {
        readOrder(folder)
        let plan = try makePlan()
        writeOrder(folder)
        if plan.actions.isEmpty { return }
        if plan.actions.count == 1 { return try carryOutOneByOne(plan, in: folder, control) }
        do {
            try DiskBatch.commit(plan, in: self, folder, control)
        } catch let error as StorageError where error.code == .storageFull && plan.writes == 0 {
            // There is no space for the list of a batch, and removals free space.
            bodegaLogger.notice(
                "The volume is full, so items are removed one by one.", metadata: ["folder": "\(path)"])
            try carryOutOneByOne(plan, in: folder, control)
        }
    }

    /// Removes what a crash left behind, and finishes a batch that it interrupted.
    package func recover() throws {
        if access(controlPath, F_OK) != 0 { return }
        try writing { _, control in
            for name in ["item", "item.key"] { unlinkat(control, name, 0) }
            try DiskBatch.removeLeftovers(in: self, control)
        }
        removeControlFolderIfIdle()
    }

    /// Changes files without a batch. Renaming or removing a single file is atomic, so it needs none.
    private func carryOutOneByOne(_ plan: DiskPlan, in folder: Int32, _ control: Int32) throws {
        for (name, action) in plan.actions {
            switch action {
            case .remove:
                if unlinkat(folder, name, 0) != 0, errno != ENOENT {
                    throw StorageError.system(errno, path + "/" + name, "removed")
                }
                DiskSidecar.remove(name, in: folder)
            case .write(let record, let content):
                let isComplete = try stage(
                    record, content, of: name, as: "item", in: control, folder, synchronized: true)
                if !isComplete {
                    try DiskSidecar.prepare(in: folder, self)
                    let sidecar = DiskSidecar.path(name)
                    if renameat(control, "item.key", folder, sidecar) != 0 {
                        throw StorageError.system(errno, path + "/" + sidecar, "written")
                    }
                    if durability == .full { try FileSystem.synchronizeDirectory(keysPath) }
                }
                if renameat(control, "item", folder, name) != 0 {
                    throw StorageError.system(errno, path + "/" + name, "written")
                }
                if isComplete { DiskSidecar.remove(name, in: folder) }
            }
        }
        try synchronizeEntries(folder, path)
    }

    /// Writes a file that is not an item yet, and its sidecar if the volume accepts no attribute of that size. They
    /// grant no more than the file that they replace.
    ///
    /// - Parameters:
    ///   - item: The file's future name as an item.
    ///   - name: The file's temporary name, to which the sidecar's adds `.key`.
    ///   - directory: The folder for the file.
    ///   - synchronized: Whether to make the file durable now.
    /// - Returns: Whether the file holds the record.
    func stage(
        _ record: DiskRecord,
        _ content: DiskPlan.Content,
        of item: String,
        as name: String,
        in directory: Int32,
        _ folder: Int32,
        synchronized: Bool
    ) throws -> Bool {
        var data = Data()
        var stream: StreamFile?
        let original: stat?
        switch content {
        case .data(let bytes):
            data = bytes
            original = try FileSystem.statusOfFile(item, in: folder, path + "/" + item)
        case .stream(let file):
            stream = file
            original = try FileSystem.statusOfFile(item, in: folder, path + "/" + item)
        case .file(let source):
            guard let file = try DiskFile.open(source, in: folder, self) else {
                throw StorageError.system(ENOENT, path + "/" + source, "moved out of another item's way")
            }
            stream = try file.stream(self)
            original = file.status
        }
        let bytes = record.bytes
        let isComplete = try create(name, in: directory, as: original, data, synchronized) {
            try stream?.blockingCopy(to: $0, controlPath + "/" + name)
            return DiskAttribute.set(bytes, of: $0)
        }
        if !isComplete {
            _ = try create(name + ".key", in: directory, as: original, Data(bytes), synchronized)
        }
        return isComplete
    }

    /// Creates a file in the control folder.
    ///
    /// - Parameters:
    ///   - original: The status of the file from which to take the permissions; `nil` for a new item.
    ///   - finish: Runs before the file is made durable.
    func create(
        _ name: String,
        in directory: Int32,
        as original: stat? = nil,
        _ data: Data,
        _ synchronized: Bool,
        finish: (Int32) throws -> Bool = { _ in true }
    ) throws -> Bool {
        let path = { self.controlPath + "/" + name }
        let permissions = original.map { FileSystem.permissions(of: [$0]) } ?? 0o644
        return try FileSystem.createFile(
            name, in: directory, permissions: permissions, as: original, data, path()
        ) { descriptor in
            let result = try finish(descriptor)
            if synchronized { try FileSystem.synchronize(descriptor, path()) }
            return result
        }
    }
}
