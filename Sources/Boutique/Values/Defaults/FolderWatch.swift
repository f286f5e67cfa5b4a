import Bodega
import Dispatch
import Foundation
import Logging

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Calls closures after files in a folder have been replaced, by whichever process, until it is released.
///
/// It uses inotify, of which a system gives a user only some hundreds, so all who watch a folder share one. Where there is
/// none, no closure is ever called.
final class FolderWatch: Sendable {
    private let observers = ValueObservers()

    private struct Weak {
        weak var watch: FolderWatch?
    }

    private static let all = Locked<[URL: Weak]>([:])

    /// The watch of a folder, the same for all who use it at a time. The folder is created if it is missing.
    ///
    /// - Returns: `nil` if the system has no watch to give; that is logged.
    static func of(_ folder: URL) -> FolderWatch? {
        all.withLock { all in
            if let watch = all[folder]?.watch { return watch }
            all = all.filter { $0.value.watch != nil }
            let watch = FolderWatch(folder)
            all[folder] = watch.map { Weak(watch: $0) }
            return watch
        }
    }

    /// Calls a closure after a file has been replaced, until the result is released.
    func observe(_ name: String, _ onChange: @escaping @Sendable () -> Void) -> ValueObservation {
        let observation = observers.add(name, onChange)
        return ValueObservation { [self] in _ = (self, observation) }
    }

    #if !canImport(Darwin) && (canImport(Glibc) || canImport(Musl))
    // Sources may be cancelled on any thread.
    nonisolated(unsafe) private let source: any DispatchSourceRead

    private init?(_ folder: URL) {
        let descriptor: Int32
        do {
            try FileSystem.createDirectory(at: folder)
            descriptor = try FileSystem.check(folder.path, "watched") {
                inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
            }
        } catch {
            Self.log(error)
            return nil
        }
        do {
            try FileSystem.check(folder.path, "watched") {
                inotify_add_watch(descriptor, folder.path, UInt32(IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE))
            }
        } catch {
            Self.log(error)
            close(descriptor)
            return nil
        }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: foreignChangeQueue)
        source.setEventHandler { [observers] in
            for name in Set(Self.names(in: descriptor)) {
                if let name { observers.announceChange(of: name) } else { observers.announceChanges() }
            }
        }
        source.setCancelHandler { close(descriptor) }
        source.resume()
        self.source = source
    }

    deinit {
        source.cancel()
    }

    private static func log(_ error: any Error) {
        boutiqueLogger.warning(
            "Changes of values by other processes are seen when the values are read, not at once.",
            metadata: ["error": "\(error)"]
        )
    }

    /// The names in the events that are waiting; `nil` for an event without one, such as that some were lost.
    private static func names(in descriptor: Int32) -> [String?] {
        var names: [String?] = []
        let headerSize = MemoryLayout<inotify_event>.size
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count <= 0 { return names }
            buffer[..<count].withUnsafeBytes { bytes in
                var offset = 0
                // The system only hands out whole events: a header, and a name filled up with NULs.
                while offset + headerSize <= bytes.count {
                    let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    let end = offset + headerSize + Int(event.len)
                    let name = bytes[offset + headerSize..<end].prefix { $0 != 0 }
                    names.append(name.isEmpty ? nil : String(decoding: name, as: UTF8.self))
                    offset = end
                }
            }
        }
    }
    #else
    private init?(_ folder: URL) {
        return nil
    }
    #endif
}
