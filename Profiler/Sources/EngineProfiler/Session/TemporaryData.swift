import Foundation

/// What a run has to remove in the end, also when it is interrupted.
final class TemporaryData: @unchecked Sendable {
    // Unchecked because the lock guards all that changes.
    private let lock = NSLock()
    private var places: [Place] = []
    private var isOver = false

    /// The folder for engines that have no other place.
    let folder: URL

    /// Makes the folder.
    ///
    /// - Parameter parent: Where it is made. By default `/var/tmp`, which unlike `/tmp` is on a disk almost everywhere,
    ///   or the user's temporary folder where that can't be written.
    init(in parent: URL?) throws {
        let varTmp = URL(fileURLWithPath: "/var/tmp", isDirectory: true)
        let isVarTmpWritable = FileManager.default.isWritableFile(atPath: varTmp.path)
        let parent = parent ?? (isVarTmpWritable ? varTmp : FileManager.default.temporaryDirectory)
        folder = parent.appendingPathComponent("profiler-\(UUID().uuidString)", isDirectory: true)
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw ProfilerError("No folder can be made in \(parent.path): \(reason(error))")
        }
    }

    /// Takes a place for an engine.
    ///
    /// - Throws: A ``ProfilerError`` if something is there, or `CancellationError` if everything was removed already.
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

    /// Removes everything. Nothing can be taken any more.
    func remove() throws {
        try lock.withLock {
            isOver = true
            for place in places { try place.clear() }
            try removeCompletely(folder)
        }
    }
}
