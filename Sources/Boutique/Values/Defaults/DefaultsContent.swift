import Bodega
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The values of a ``DefaultsFile`` as they were read last.
///
/// Only what was appended since then is read again.
struct DefaultsContent: Sendable {
    private let url: URL
    private(set) var entries: [ExactText: Data] = [:]
    private(set) var log = ValueLog()
    /// The file that was read, open, so that no new file gets its inode number.
    private(set) var file: OpenFile?
    /// The version that was read; `nil` if its end could change without being noticed.
    private var version: FileVersion?
    /// The values whose observers don't know what was read in the file; `nil` for all.
    private var unchecked: Set<ExactText>?

    init(url: URL) { self.url = url }

    /// Whether a change must replace the file, because it ends in an incomplete record.
    var mustBeReplaced: Bool { file != nil && version == nil }

    /// Whether most of the file is changes that later ones have replaced.
    var isWasteful: Bool {
        let needed = entries.reduce(0) { $0 + $1.key.text.utf8.count + $1.value.count + ValueLog.overhead }
        return log.end > 4 * needed + 65_536
    }

    /// Reads the file if it has changed.
    ///
    /// - Returns: Whether it was read from its beginning.
    @discardableResult
    mutating func refresh() throws -> Bool {
        if let file, let version {
            let status = try file.status()
            let current = FileVersion(status)
            if current == version { return false }
            if try readAppended(to: file, status, current) { return false }
        }
        try readAll()
        return true
    }

    /// Reads the file if it has changed, and returns the values that other processes may have changed since the last
    /// call; `nil` for all, also if the file can't be read, so that each value notes the error.
    mutating func takeUnchecked() -> Set<ExactText>? {
        do {
            try refresh()
            defer { unchecked = [] }
            return unchecked
        } catch {
            unchecked = nil
            return nil
        }
    }

    /// Forgets the file if another one has its name now.
    mutating func checkPath(_ current: FileVersion?) {
        if let version, current.map(version.isSameFile) != true { file = nil }
    }

    /// Notes a change, or only a mark, that was appended to the file.
    mutating func note(_ change: ValueLog.Change?, _ log: ValueLog, _ version: FileVersion) {
        if let change { entries[ExactText(change.name)] = change.data }
        (self.log, self.version) = (log, version)
    }

    /// Notes that the first bytes of the file are on disk.
    mutating func noteSynced(_ count: Int, of file: OpenFile) {
        if self.file === file { log.noteSynced(count) }
    }

    private mutating func readAppended(to file: OpenFile, _ status: stat, _ current: FileVersion) throws -> Bool {
        // A file that was removed or replaced has no link.
        guard status.st_nlink > 0, status.isFile, status.st_size >= log.end else { return false }
        var (log, changes): (ValueLog, [ValueLog.Change]) = (log, [])
        do {
            try log.read(try file.read(from: log.end, to: Int(status.st_size))) { changes.append($0) }
        } catch is ValueLog.Damage {
            // Decided when the whole file is read.
            return false
        }
        guard log.end == status.st_size else { return false }
        for change in changes { entries[ExactText(change.name)] = change.data }
        unchecked?.formUnion(changes.map { ExactText($0.name) })
        (self.log, version) = (log, current)
        return true
    }

    private mutating func readAll() throws {
        unchecked = nil
        guard var file = try OpenFile(ifPresent: url) else { return set([:], ValueLog(), nil, nil) }
        let status = try file.status()
        // The object stands for the file: one with an incomplete end is read again each time.
        if let old = self.file, FileVersion(try old.status()).isSameFile(FileVersion(status)) { file = old }
        if !status.isFile { throw Self.damaged(url) }
        var (entries, log): ([ExactText: Data], ValueLog) = ([:], ValueLog())
        do {
            try log.read(try file.read(from: 0, to: Int(status.st_size))) { entries[ExactText($0.name)] = $0.data }
        } catch let damage as ValueLog.Damage {
            throw Self.damaged(url, cause: damage)
        }
        // The end of an incomplete record can be replaced by as many bytes at the same time.
        let version = log.end == status.st_size ? FileVersion(status) : nil
        set(entries, log, file, version)
    }

    /// Notes the content of a file.
    mutating func set(_ entries: [ExactText: Data], _ log: ValueLog, _ file: OpenFile?, _ version: FileVersion?) {
        (self.entries, self.log, self.file, self.version) = (entries, log, file, version)
    }

    private static func damaged(_ url: URL, cause: (any Error)? = nil) -> StorageError {
        StorageError(
            .damaged,
            "The file of values is damaged. Move it away to start with an empty file; until then, writes fail.",
            file: url, cause: cause)
    }
}
