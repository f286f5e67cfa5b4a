#if !canImport(Darwin)
import CLinuxFileSystem
import Dispatch
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// File events of inotify(7). The files' folder is watched, so the files need not exist yet.
final class InotifyEvents: FileEvents {
    private let number: Int

    /// - Throws: A ``StorageError`` if the system refuses.
    init(path: String, suffixes: [String], queue: DispatchQueue, onEvent: @escaping @Sendable () -> Void) throws {
        let url = URL(fileURLWithPath: path)
        let names = Set(suffixes.map { url.lastPathComponent + $0 })
        number = try InotifyWatches.shared.add(url.deletingLastPathComponent().path, names) {
            queue.async(execute: onEvent)
        }
    }

    func cancel() {
        InotifyWatches.shared.remove(number)
    }
}

/// The folders that the process watches.
///
/// The system limits the number of inotify instances, so all listeners share one:
///
/// 1. The first ``add(_:_:_:)`` creates the instance; each adds its folder and a listener.
/// 2. On its own queue, the instance takes all events that are available and passes them to ``notify(_:)``.
/// 3. The listeners that the events concern are called there. Each continues on a queue of its own.
/// 4. The instance pauses, so that further events are reported together. Step 2 follows.
/// 5. The last ``remove(_:)`` cancels the instance.
///
/// `state` is guarded by its lock, which is not held while listeners are called. A listener may therefore be called
/// once more after its removal.
final class InotifyWatches: Sendable {

    static let shared = InotifyWatches()

    private struct Listener: Sendable {
        let folder: Int32
        let names: Set<String>
        let onEvent: @Sendable () -> Void
    }

    private struct State: Sendable {
        var instance: InotifyInstance?
        var listeners: [Int: Listener] = [:]
        var lastNumber = 0
    }

    private let state = Locked(State())

    /// Adds a listener for files of certain names in a folder.
    ///
    /// - Returns: The listener's number, for ``remove(_:)``.
    /// - Throws: A ``StorageError`` if the system refuses.
    func add(_ folder: String, _ names: Set<String>, _ onEvent: @escaping @Sendable () -> Void) throws -> Int {
        try state.withLock { state in
            let instance = try state.instance ?? InotifyInstance { [weak self] in self?.notify($0) }
            do {
                // A folder that is watched already keeps its number.
                let watch = try instance.watch(folder)
                state.instance = instance
                state.lastNumber += 1
                state.listeners[state.lastNumber] = Listener(folder: watch, names: names, onEvent: onEvent)
                return state.lastNumber
            } catch {
                if state.instance == nil { instance.cancel() }
                throw error
            }
        }
    }

    /// Removes a listener.
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

    private func notify(_ events: [InotifyInstance.Event]) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners where events.contains(where: { $0.concerns(listener.folder, listener.names) }) {
            listener.onEvent()
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
    // @unchecked because Dispatch sources are thread-safe.
    private let source: any DispatchSourceRead
    private let queue = DispatchQueue(label: "emporium.bodega.inotify", qos: .fileEvents)
    private let descriptor: Int32

    /// An event in a folder.
    struct Event: Hashable {
        /// The number of the folder's watch, negative if events were lost.
        let folder: Int32
        /// The name of the file, `nil` if the event is about the folder itself.
        let name: String?
    }

    /// - Throws: A ``StorageError`` if the system refuses.
    init(_ onEvents: @escaping @Sendable ([Event]) -> Void) throws {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { throw StorageError.system(errno, "/", "watched") }
        self.descriptor = descriptor
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        // The handler retains the instance until it is cancelled.
        source.setEventHandler { [self] in
            onEvents(Self.takeEvents(from: descriptor))
            // Events that arrive in the meantime are reported together.
            source.suspend()
            queue.asyncAfter(deadline: .now() + fileEventsPause) { [self] in source.resume() }
        }
        // Called when nothing uses the descriptor any more.
        source.setCancelHandler { close(descriptor) }
        source.activate()
    }

    /// Starts to watch a folder.
    ///
    /// - Throws: A ``StorageError`` if the system refuses.
    func watch(_ folder: String) throws -> Int32 {
        let events =
            IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF
        let number = inotify_add_watch(descriptor, folder, UInt32(events))
        if number < 0 { throw StorageError.system(errno, folder, "watched") }
        return number
    }

    /// Stops watching a folder, which may no longer exist.
    func unwatch(_ folder: Int32) {
        inotify_rm_watch(descriptor, folder)
    }

    /// Ends the instance. The descriptor is closed when it is no longer in use.
    func cancel() {
        source.cancel()
    }

    /// Takes all events that are available.
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
                    // The name is padded with zeroes.
                    let name = String(decoding: buffer[start..<offset].prefix { $0 != 0 }, as: UTF8.self)
                    events.insert(Event(folder: event.wd, name: event.len == 0 ? nil : name))
                }
            }
        }
        return Array(events)
    }
}
#endif
