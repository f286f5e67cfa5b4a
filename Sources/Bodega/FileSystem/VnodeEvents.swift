#if canImport(Darwin)
import Darwin
import Dispatch
import Foundation

/// File events of kqueue(2). The folder is watched for files that appear and disappear, and existing files for writes.
///
/// The database file itself is not opened, because closing it would release the locks of this process's connections. It
/// changes only together with one of the files beside it, unless a program keeps its journal in memory or has none.
final class VnodeEvents: FileEvents, @unchecked Sendable {
    // @unchecked because all mutable state is used on the queue only.
    private let paths: [String]
    private let folder: String
    private let queue: DispatchQueue
    private let onEvent: @Sendable () -> Void
    private var sources: [String: any DispatchSourceFileSystemObject] = [:]
    private var isPaused = false
    private var isCancelled = false

    /// - Throws: A ``StorageError`` if the system refuses.
    init(path: String, suffixes: [String], queue: DispatchQueue, onEvent: @escaping @Sendable () -> Void) throws {
        self.paths = suffixes.filter { !$0.isEmpty }.map { path + $0 }
        self.folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        self.queue = queue
        self.onEvent = onEvent
        guard let source = makeSource(folder) else { throw StorageError.system(errno, folder, "watched") }
        sources[folder] = source
        source.activate()
        watchFiles()
    }

    private func pause() {
        if isPaused { return }
        isPaused = true
        for source in sources.values { source.suspend() }
    }

    private func resume() {
        if !isPaused { return }
        isPaused = false
        for source in sources.values { source.resume() }
    }

    func cancel() {
        queue.async { [self] in
            isCancelled = true
            for source in sources.values { source.cancel() }
            // Their cancel handlers run only while they are not suspended.
            resume()
            sources = [:]
        }
    }

    /// Starts to watch the files that have appeared.
    private func watchFiles() {
        for path in paths where sources[path] == nil {
            guard let source = makeSource(path) else { continue }
            sources[path] = source
            source.activate()
        }
    }

    private func makeSource(_ path: String) -> (any DispatchSourceFileSystemObject)? {
        let descriptor = open(path, O_EVTONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let source = DispatchSource.makeFileSystemObjectSource(
            fileDescriptor: descriptor,
            eventMask: [.write, .extend, .attrib, .delete, .rename, .revoke],
            queue: queue
        )
        source.setEventHandler { [weak self] in
            guard let self, !isCancelled, let source = sources[path] else { return }
            if !source.data.isDisjoint(with: [.delete, .rename, .revoke]), path != folder {
                source.cancel()
                sources[path] = nil
            }
            watchFiles()
            onEvent()
            // Events that arrive in the meantime are reported together.
            pause()
            queue.asyncAfter(deadline: .now() + fileEventsPause) { [self] in resume() }
        }
        source.setCancelHandler { close(descriptor) }
        return source
    }
}
#endif
