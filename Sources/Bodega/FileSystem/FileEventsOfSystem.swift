import Dispatch

/// What tells of changes to files on this system.
package enum FileEventsOfSystem {

    /// - Throws: A ``StorageError`` if the system refuses, because too much is watched, say.
    package static let make: FileWatch.MakeEvents = { path, suffixes, queue, tell in
        #if canImport(Darwin)
        try VnodeEvents(path: path, suffixes: suffixes, queue: queue, tell: tell)
        #else
        try InotifyEvents(path: path, suffixes: suffixes, queue: queue, tell: tell)
        #endif
    }
}
