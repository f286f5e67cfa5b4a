import Foundation

/// The data that a run has to remove at its end or after an interruption.
final class TemporaryData: @unchecked Sendable {
    // @unchecked because the lock guards all mutable state.
    private let lock = NSLock()
    private var places: [Place] = []
    private var isOver = false

    /// The folder for engines without an address.
    let folder: URL

    /// Creates the folder.
    ///
    /// - Parameter parent: The parent folder. The default is `/var/tmp`, which unlike `/tmp` is on a disk almost
    ///   everywhere, or the user's temporary folder if `/var/tmp` is not writable.
    init(in parent: URL?) throws {
        let varTmp = URL(fileURLWithPath: "/var/tmp", isDirectory: true)
        let isVarTmpWritable = FileManager.default.isWritableFile(atPath: varTmp.path)
        let parent = parent ?? (isVarTmpWritable ? varTmp : FileManager.default.temporaryDirectory)
        folder = parent.appendingPathComponent("profiler-\(UUID().uuidString)", isDirectory: true)
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw ProfilerError("A folder in \(parent.path) can't be created: \(reason(error))")
        }
    }

    /// Reserves a place for an engine.
    ///
    /// - Throws: A ``ProfilerError`` if the place is not empty, or `CancellationError` if the data has been removed.
    func take(_ subject: Subject) throws -> Place {
        try lock.withLock {
            if isOver { throw CancellationError() }
            let inner = folder.appendingPathComponent(UUID().uuidString, isDirectory: true)
            try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
            let place = subject.place(orIn: inner)
            try place.checkIsFree()
            places.append(place)
            return place
        }
    }

    /// Removes all data. No place can be reserved afterwards.
    func remove() throws {
        try lock.withLock {
            isOver = true
            for place in places { try place.clear() }
            try removeCompletely(folder)
        }
    }
}
