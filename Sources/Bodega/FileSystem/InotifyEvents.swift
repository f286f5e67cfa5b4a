#if !canImport(Darwin)
import CLinuxFileSystem
import Dispatch
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Events of inotify(7). The files' folder is watched, so that it does not matter whether they are there yet.
final class InotifyEvents: FileEvents, @unchecked Sendable {
    // @unchecked because `buffer` and `isPaused` are used on the queue only, and the source is thread-safe.
    private let source: any DispatchSourceRead
    private let queue: DispatchQueue
    private let descriptor: Int32
    private let names: Set<String>
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    private var isPaused = false

    /// - Throws: A ``StorageError`` if the system refuses.
    init(path: String, suffixes: [String], queue: DispatchQueue, tell: @escaping @Sendable (Bool) -> Void) throws {
        let url = URL(fileURLWithPath: path)
        self.names = Set(suffixes.map { url.lastPathComponent + $0 })
        self.queue = queue
        let folder = url.deletingLastPathComponent().path
        descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { throw StorageError.system(errno, folder, "watched") }
        let events =
            IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF
        guard inotify_add_watch(descriptor, folder, UInt32(events)) >= 0 else {
            let error = StorageError.system(errno, folder, "watched")
            close(descriptor)
            throw error
        }
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { [weak self] in
            if let self { tell(takeEvents()) }
        }
        // Kept until nothing uses the descriptor any more.
        source.setCancelHandler { [self] in
            close(descriptor)
            buffer.deallocate()
        }
        source.activate()
    }

    func pause() {
        if !isPaused { source.suspend() }
        isPaused = true
    }

    func resume() {
        if isPaused { source.resume() }
        isPaused = false
    }

    func cancel() {
        source.cancel()
        // Its handler is called only when it is not suspended.
        queue.async { [self] in resume() }
    }

    /// Takes all events that there are.
    ///
    /// - Returns: Whether one of them counts.
    private func takeEvents() -> Bool {
        var counts = false
        while true {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return counts }
            var offset = 0
            while offset < count {
                let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                let start = offset + MemoryLayout<inotify_event>.size
                offset = start + Int(event.len)
                counts = counts || event.len == 0 || names.contains(name(in: start..<offset))
            }
        }
    }

    /// The name behind an event, which is filled up with zeroes. An event without one is about the folder itself, or about
    /// events that were lost.
    private func name(in range: Range<Int>) -> String {
        String(decoding: buffer[range].prefix { $0 != 0 }, as: UTF8.self)
    }
}
#endif
