import Dispatch

/// The source of file events on this platform.
package enum FileEventsOfSystem {

    /// - Throws: A ``StorageError`` if the system refuses, for example because too many files are watched.
    package static let make: FileWatch.MakeEvents = { path, suffixes, queue, onEvent in
        #if canImport(Darwin)
        try VnodeEvents(path: path, suffixes: suffixes, queue: queue, onEvent: onEvent)
        #else
        try InotifyEvents(path: path, suffixes: suffixes, queue: queue, onEvent: onEvent)
        #endif
    }
}
