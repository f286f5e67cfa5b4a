import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The effect of a list of operations on each file.
///
/// A plan is created under the writers' lock and reads the folder, but changes nothing. Each file occurs once, so the
/// steps can be carried out in any order, and they are idempotent.
struct DiskPlan {

    /// The change of a file.
    enum Action {
        case write(DiskRecord, Content)
        case remove
    }

    /// The source of a file's bytes.
    enum Content {
        case data(Data)
        case stream(StreamFile)
        /// The file of this name, in its state before the plan is carried out.
        case file(String)
    }

    /// The changes of the files, by the form in which the volume compares their names.
    private var steps: [[UInt8]: (name: String, action: Action)] = [:]

    /// The records of the files that were looked up for the current operation, `nil` for missing files.
    private var found: [String: DiskRecord?] = [:]

    private let owner: DiskFolder
    private let folder: Int32
    private let date: Int64
    private let dates: [CacheKey: StorageDates]
    private let ignoresCase: Bool

    /// The files and their changes.
    var actions: some Collection<(name: String, action: Action)> { steps.values }

    /// The number of files that are written.
    var writes: Int {
        steps.values.count { if case .write = $0.action { true } else { false } }
    }

    /// - Parameters:
    ///   - operations: The operations, in order.
    ///   - date: The date of the writes.
    ///   - dates: The dates of items that don't get `date`.
    ///   - folder: The folder, open.
    init(
        _ operations: [StorageOperation],
        at date: Date,
        dates: [CacheKey: StorageDates] = [:],
        in folder: Int32,
        _ owner: DiskFolder
    ) throws {
        try self.init(at: date, dates: dates, in: folder, owner)
        for operation in operations {
            found.removeAll(keepingCapacity: true)
            switch operation {
            case .write(let key, let data): try write(.data(data), key: key)
            case .remove(let key): try remove(key)
            case .removeAll:
                steps = [:]
                for name in try owner.names(in: folder) { self[name] = .remove }
            }
        }
    }

    /// - Parameters:
    ///   - stream: The bytes of an item.
    ///   - key: The item's key.
    ///   - date: The date of the write.
    ///   - folder: The folder, open.
    init(_ stream: StreamFile, key: CacheKey, at date: Date, in folder: Int32, _ owner: DiskFolder) throws {
        try self.init(at: date, dates: [:], in: folder, owner)
        try write(.stream(stream), key: key)
    }

    private init(at date: Date, dates: [CacheKey: StorageDates], in folder: Int32, _ owner: DiskFolder) throws {
        self.owner = owner
        self.folder = folder
        self.dates = dates
        self.date = DiskRecord.milliseconds(date)
        self.ignoresCase = try owner.ignoresCase(in: folder)
    }

    /// The change of a file. Names are compared as the volume compares them.
    private subscript(name: String) -> Action? {
        get { steps[identity(of: name)]?.action }
        set { steps[identity(of: name)] = newValue.map { (name, $0) } }
    }

    private func identity(of name: String) -> [UInt8] {
        if ignoresCase { return DiskName.folded(name) }
        #if canImport(Darwin)
        // Apple's volumes ignore the encoding of accents, even if they are case-sensitive.
        return Array(name.decomposedStringWithCanonicalMapping.utf8)
        #else
        return Array(name.utf8)
        #endif
    }

    private mutating func write(_ content: Content, key: CacheKey) throws {
        let name = DiskName(key)
        let created = dates[key].map { DiskRecord.milliseconds($0.createdAt) } ?? date
        let updated = dates[key].map { DiskRecord.milliseconds($0.updatedAt) } ?? date
        if case (let place, var record)? = try locate(key, name) {
            if dates[key] != nil { record.createdAt = created }
            record.updatedAt = updated
            // A key made from the name of a file of Bodega 2 is not the key that the file was written under.
            let tellsTheKey = key.kind != .verbatim || !key.rawValue.looksLikeGroupedMD5
            if record.key == nil, tellsTheKey { record.key = key }
            self[place] = .write(record, content)
            return
        }
        var place = name.detour
        if let home = name.home, try key.kind == .hashed || record(of: home) == nil { place = home }
        try clear(place)
        try rejectFolder(at: place, key)
        let record = DiskRecord(key: key, order: owner.nextOrder(), createdAt: created, updatedAt: updated)
        self[place] = .write(record, content)
    }

    private mutating func remove(_ key: CacheKey) throws {
        let name = DiskName(key)
        if let (place, _) = try locate(key, name) { self[place] = .remove }
        // Otherwise a file that Bodega 2 has written for the key later would appear in place of the removed one.
        if let original = name.original, let record = try record(of: original), record.key == nil {
            self[original] = .remove
        }
    }

    /// Throws if a folder has the file's name: a file cannot replace it, and a committed batch must not fail.
    private func rejectFolder(at place: String, _ key: CacheKey) throws {
        var status = stat()
        if fstatat(folder, place, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFDIR {
            throw StorageError(
                .cannotOpen,
                "A folder has the name of the item's file. Remove the folder or choose another key.",
                key: key,
                file: URL(fileURLWithPath: owner.path + "/" + place)
            )
        }
    }

    /// Moves the file that has a name, if there is one, to the detour of its key.
    private mutating func clear(_ place: String) throws {
        guard let record = try record(of: place), let key = record.key else { return }
        let detour = DiskName(key).detour
        try clear(detour)
        self[detour] = self[place] ?? .write(record, .file(place))
        self[place] = .remove
    }

    /// Finds the file of a key, like ``DiskFolder/withFile(of:in:_:)``, in the state after the plan.
    private mutating func locate(_ key: CacheKey, _ name: DiskName) throws -> (place: String, record: DiskRecord)? {
        var keyless: (place: String, record: DiskRecord)?
        for place in name.places {
            guard let record = try record(of: place) else { continue }
            if record.key == key { return (place, record) }
            if record.key == nil, keyless == nil { keyless = (place, record) }
        }
        return keyless
    }

    /// The record of a file in the state after the plan; `nil` if the file does not exist then.
    private mutating func record(of name: String) throws -> DiskRecord? {
        switch self[name] {
        case .write(let record, _): return record
        case .remove: return nil
        case nil:
            if let known = found[name] { return known }
            let record = try DiskFile.open(name, in: folder, owner)?.recordOrTimes
            found[name] = .some(record)
            return record
        }
    }
}
