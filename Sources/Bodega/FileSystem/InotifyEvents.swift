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
final class InotifyEvents: FileEvents {
    private let number: Int

    /// - Throws: A ``StorageError`` if the system refuses.
    init(path: String, suffixes: [String], queue: DispatchQueue, tell: @escaping @Sendable () -> Void) throws {
        let url = URL(fileURLWithPath: path)
        let names = Set(suffixes.map { url.lastPathComponent + $0 })
        number = try InotifyWatches.shared.add(url.deletingLastPathComponent().path, names) {
            queue.async(execute: tell)
        }
    }

    func cancel() {
        InotifyWatches.shared.remove(number)
    }
}

/// The folders that the process watches. A user may have few instances of inotify, so all share one, which is there as long
/// as somebody needs it.
final class InotifyWatches: Sendable {

    static let shared = InotifyWatches()

    private struct Listener: Sendable {
        let folder: Int32
        let names: Set<String>
        let tell: @Sendable () -> Void
    }

    private struct State: Sendable {
        var instance: InotifyInstance?
        var listeners: [Int: Listener] = [:]
        var lastNumber = 0
    }

    private let state = Locked(State())

    /// Tells of files of some names in a folder.
    ///
    /// - Returns: A number to remove it by.
    /// - Throws: A ``StorageError`` if the system refuses.
    func add(_ folder: String, _ names: Set<String>, _ tell: @escaping @Sendable () -> Void) throws -> Int {
        try state.withLock { state in
            let instance = try state.instance ?? InotifyInstance { [weak self] in self?.tell($0) }
            do {
                // One that is watched already gets the same number.
                let watch = try instance.watch(folder)
                state.instance = instance
                state.lastNumber += 1
                state.listeners[state.lastNumber] = Listener(folder: watch, names: names, tell: tell)
                return state.lastNumber
            } catch {
                if state.instance == nil { instance.cancel() }
                throw error
            }
        }
    }

    /// Tells nothing any more.
    func remove(_ number: Int) {
        state.withLock { state in
            guard let listener = state.listeners.removeValue(forKey: number) else { return }
            if state.listeners.isEmpty {
                state.instance?.cancel()
                state.instance = nil
            } else if !state.listeners.values.contains(where: { $0.folder == listener.folder }) {
                state.instance?.unwatch(listener.folder)
            }
        }
    }

    private func tell(_ events: [InotifyInstance.Event]) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners where events.contains(where: { $0.concerns(listener.folder, listener.names) }) {
            listener.tell()
        }
    }
}

extension InotifyInstance.Event {
    fileprivate func concerns(_ folder: Int32, _ names: Set<String>) -> Bool {
        // Events were lost.
        if self.folder < 0 { return true }
        return self.folder == folder && (name.map(names.contains) ?? true)
    }
}

/// An instance of inotify(7).
final class InotifyInstance: @unchecked Sendable {
    // @unchecked because the source is thread-safe.
    private let source: any DispatchSourceRead
    private let queue = DispatchQueue(label: "emporium.bodega.inotify", qos: .userInitiated)
    private let descriptor: Int32

    /// What has happened.
    struct Event: Hashable {
        /// The number of the folder's watch, negative if events were lost.
        let folder: Int32
        /// The name of the file, `nil` if it is about the folder itself.
        let name: String?
    }

    /// - Throws: A ``StorageError`` if the system refuses.
    init(_ tell: @escaping @Sendable ([Event]) -> Void) throws {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { throw StorageError.system(errno, "/", "watched") }
        self.descriptor = descriptor
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        // It keeps itself until it is cancelled.
        source.setEventHandler { [self] in
            tell(Self.takeEvents(from: descriptor))
            // What comes meanwhile is told together.
            source.suspend()
            queue.asyncAfter(deadline: .now() + fileEventsPause) { [self] in source.resume() }
        }
        // Nothing uses the descriptor any more.
        source.setCancelHandler { close(descriptor) }
        source.activate()
    }

    /// Begins to watch a folder.
    ///
    /// - Throws: A ``StorageError`` if the system refuses.
    func watch(_ folder: String) throws -> Int32 {
        let events =
            IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF
        let number = inotify_add_watch(descriptor, folder, UInt32(events))
        if number < 0 { throw StorageError.system(errno, folder, "watched") }
        return number
    }

    /// Ceases to watch a folder, which may be gone.
    func unwatch(_ folder: Int32) {
        inotify_rm_watch(descriptor, folder)
    }

    /// Ends it. The descriptor is closed when it is not in use.
    func cancel() {
        source.cancel()
    }

    /// Takes all events that there are.
    private static func takeEvents(from descriptor: Int32) -> [Event] {
        var events: Set<Event> = []
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { buffer in
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                var offset = 0
                while offset < count {
                    let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    let start = offset + MemoryLayout<inotify_event>.size
                    offset = start + Int(event.len)
                    // It is filled up with zeroes.
                    let name = String(decoding: buffer[start..<offset].prefix { $0 != 0 }, as: UTF8.self)
                    events.insert(Event(folder: event.wd, name: event.len == 0 ? nil : name))
                }
            }
        }
        return Array(events)
    }
}
#endif
