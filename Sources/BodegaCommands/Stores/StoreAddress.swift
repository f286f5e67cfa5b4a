package import Foundation

/// Where a store is and what kind of store it is: `sqlite:notes.db`, `disk:notes`, or a path that tells by itself.
package struct StoreAddress: Equatable, Sendable, CustomStringConvertible {

    /// The engines that an address can name.
    package enum Engine: String, CaseIterable, Sendable {
        /// An SQLite file.
        case sqlite
        /// A folder with a file for each item.
        case disk
    }

    /// The engine.
    package let engine: Engine

    /// The path of the file or folder.
    package let path: String

    /// Creates an address.
    ///
    /// - Parameters:
    ///   - engine: The engine.
    ///   - path: The path of the file or folder.
    package init(engine: Engine, path: String) {
        self.engine = engine
        self.path = path
    }

    /// Reads an address.
    ///
    /// Without a scheme, a folder is a disk store and a file that starts like an SQLite file is one. Where nothing is
    /// yet, or an empty file, the extensions `sqlite3`, `sqlite` and `db` tell. A path that starts with `~/` is in the
    /// home folder, because shells don't expand that after a scheme.
    ///
    /// - Parameter text: The address.
    /// - Throws: A ``ToolError`` if the text does not tell the engine.
    package init(parsing text: String) throws {
        for engine in Engine.allCases where text.hasPrefix("\(engine.rawValue):") {
            let path = String(text.dropFirst(engine.rawValue.count + 1))
            guard !path.isEmpty else { throw ToolError(.usage, "\"\(text)\" lacks a path after the colon.") }
            self.init(engine: engine, path: Self.expandingHome(in: path))
            return
        }
        guard !text.isEmpty else { throw ToolError(.usage, "The store's address is empty. \(Self.forms)") }
        let path = Self.expandingHome(in: text)
        self.init(engine: try Self.engine(ofPath: path), path: path)
    }

    /// The address with its scheme.
    package var description: String { "\(engine.rawValue):\(path)" }

    /// The path as a URL.
    package var url: URL { URL(fileURLWithPath: path, isDirectory: engine == .disk) }

    private static let forms = "Write sqlite:PATH or disk:PATH."

    private static func expandingHome(in path: String) -> String {
        path.hasPrefix("~/") ? NSHomeDirectory() + path.dropFirst() : path
    }

    private static func engine(ofPath path: String) throws -> Engine {
        switch try FileNature(ofPath: path) {
        case .folder:
            return .disk
        case .sqlite:
            return .sqlite
        case .missing, .empty:
            let pathExtension = URL(fileURLWithPath: path).pathExtension.lowercased()
            if ["sqlite3", "sqlite", "db"].contains(pathExtension) { return .sqlite }
            throw ToolError(.usage, "\"\(path)\" does not tell what kind of store it is. \(forms)")
        case .otherFile:
            throw ToolError(.usage, "\"\(path)\" is a file, but not an SQLite file. \(forms)")
        }
    }
}
