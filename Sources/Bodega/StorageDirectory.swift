public import Foundation
#if canImport(Darwin)
import Logging
#endif

extension FileManager {

    /// A folder in which an engine keeps its files.
    ///
    /// An engine creates a missing folder, accessible by the owner only.
    public struct Directory: Sendable, Hashable {

        /// Where the folder is.
        public let url: URL

        /// Creates a reference to a folder, without touching it.
        ///
        /// - Parameter url: Where the folder is. It need not exist.
        public init(url: URL) {
            self.url = url
        }

        /// A folder in the user's documents folder.
        ///
        /// - Parameter pathComponent: The path below it; empty for the folder itself.
        public static func documents(appendingPath pathComponent: String) -> Directory {
            standard(.documentDirectory, orInHome: "Documents", pathComponent)
        }

        /// A folder for data that can be recreated: the system or the user may remove it at any time.
        ///
        /// On Linux it is in `$XDG_CACHE_HOME`, by default `~/.cache`.
        ///
        /// - Parameter pathComponent: The path below it; empty for the folder itself.
        public static func caches(appendingPath pathComponent: String) -> Directory {
            #if canImport(Darwin)
            standard(.cachesDirectory, orInHome: "Library/Caches", pathComponent)
            #else
            xdg("XDG_CACHE_HOME", orInHome: ".cache", pathComponent)
            #endif
        }

        /// A folder for short-lived data.
        ///
        /// - Parameter pathComponent: The path below it; empty for the folder itself.
        public static func temporary(appendingPath pathComponent: String) -> Directory {
            let base = TemporaryStorage.current?.folder("tmp") ?? FileManager.default.temporaryDirectory
            return Directory(url: base.appending(belowBy: pathComponent))
        }

        /// A folder for a program's data that users don't open directly.
        ///
        /// On Linux it is in `$XDG_DATA_HOME`, by default `~/.local/share`.
        ///
        /// - Parameter pathComponent: The path below it; empty for the folder itself.
        public static func applicationSupport(appendingPath pathComponent: String) -> Directory {
            #if canImport(Darwin)
            standard(.applicationSupportDirectory, orInHome: "Library/Application Support", pathComponent)
            #else
            xdg("XDG_DATA_HOME", orInHome: ".local/share", pathComponent)
            #endif
        }

        /// A folder that several apps of one group share.
        ///
        /// If the platform has no app groups or the app lacks the entitlement, the folder is named after the group and
        /// lies in ``applicationSupport(appendingPath:)``. A missing entitlement is logged.
        ///
        /// - Parameters:
        ///   - identifier: The group's identifier.
        ///   - pathComponent: The path below it; empty for the folder itself.
        public static func sharedContainer(
            forAppGroupIdentifier identifier: String,
            appendingPath pathComponent: String
        ) -> Directory {
            #if canImport(Darwin)
            if TemporaryStorage.current != nil {
                // The group's folder is not temporary.
            } else if let container = FileManager.default.containerURL(
                forSecurityApplicationGroupIdentifier: identifier)
            {
                return Directory(url: container.appending(belowBy: pathComponent))
            } else {
                bodegaLogger.error(
                    "The app cannot access its app group's folder and uses its own folder. Check the entitlement.",
                    metadata: ["group": "\(identifier)"])
            }
            #endif
            return Directory(url: applicationSupport(appendingPath: identifier).url.appending(belowBy: pathComponent))
        }

        /// The folder where the platform expects a program's data: the application support folder on macOS, the
        /// documents folder on the other Apple platforms, `$XDG_DATA_HOME` on Linux.
        ///
        /// - Parameter pathComponent: The path below it; empty for the folder itself.
        public static func defaultStorageDirectory(appendingPath pathComponent: String) -> Directory {
            #if canImport(Darwin) && !os(macOS)
            documents(appendingPath: pathComponent)
            #else
            applicationSupport(appendingPath: pathComponent)
            #endif
        }
    }
}

extension FileManager.Directory {

    private static func standard(
        _ folder: FileManager.SearchPathDirectory,
        orInHome fallback: String,
        _ path: String
    ) -> Self {
        if let storage = TemporaryStorage.current {
            return Self(url: storage.folder(fallback).appending(belowBy: path))
        }
        let base =
            FileManager.default.urls(for: folder, in: .userDomainMask).first
            ?? homeDirectory.appending(belowBy: fallback)
        return Self(url: base.appending(belowBy: path))
    }

    /// A base directory of the XDG Base Directory Specification 0.8: unset, empty and relative variables are ignored.
    private static func xdg(_ variable: String, orInHome fallback: String, _ path: String) -> Self {
        if let storage = TemporaryStorage.current {
            return Self(url: storage.folder(fallback).appending(belowBy: path))
        }
        if let value = ProcessInfo.processInfo.environment[variable], value.hasPrefix("/") {
            return Self(url: URL(fileURLWithPath: value, isDirectory: true).appending(belowBy: path))
        }
        return Self(url: homeDirectory.appending(belowBy: fallback).appending(belowBy: path))
    }

    private static var homeDirectory: URL {
        #if !canImport(Darwin)
        // Foundation reads the user database first, but the specification refers to the variable.
        if let home = ProcessInfo.processInfo.environment["HOME"], home.hasPrefix("/") {
            return URL(fileURLWithPath: home, isDirectory: true)
        }
        #endif
        return URL(fileURLWithPath: NSHomeDirectory(), isDirectory: true)
    }
}

extension URL {
    fileprivate func appending(belowBy path: String) -> URL {
        path.isEmpty ? self : appendingPathComponent(path, isDirectory: true)
    }
}
