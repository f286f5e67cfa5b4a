public import ArgumentParser
public import Bodega
public import Foundation
public import Logging

/// The options of the programs.
public struct GalleryOptions: ParsableArguments {
    @Option(help: "The port to listen on. If it is taken, the next free one is used. 0 for any port.")
    var port = 8080

    @Option(
        help: ArgumentHelp(
            "The folder for all data. (default: emporium-gallery in the user's data folder)",
            valueName: "folder"),
        completion: .directory
    )
    var data: String?

    @Option(help: "Makes the API draw the same pictures in the same order each time.")
    var seed: UInt64?

    // Tests may be slow, so they let messages stay longer.
    @Option(help: ArgumentHelp("How long a message stays, in seconds.", visibility: .private))
    var noticeSeconds = 8

    @Flag(help: "Log debug messages.")
    var verbose = false

    /// Creates options that are parsed from the arguments.
    public init() {}

    /// Checks all options except the port, see ``checkPort(galleries:)``.
    ///
    /// - Throws: A `ValidationError`.
    public func validate() throws {
        guard (1...1_000_000).contains(noticeSeconds) else {
            throw ValidationError("The time of a message must be from 1 to 1000000 seconds.")
        }
        if let data, data.isEmpty { throw ValidationError("The folder must have a name.") }
    }

    /// Checks the port. Each further gallery gets the next one.
    ///
    /// - Throws: A `ValidationError`.
    public func checkPort(galleries: Int) throws {
        let limit = 65_536 - galleries
        guard (0...limit).contains(port) else { throw ValidationError("The port must be from 0 to \(limit).") }
    }

    /// The folder for all data.
    public var directory: FileManager.Directory {
        guard let data else { return .applicationSupport(appendingPath: "emporium-gallery") }
        return FileManager.Directory(url: URL(fileURLWithPath: data, isDirectory: true))
    }

    /// A logger of warnings, or of debug messages if the user wants them.
    public var logger: Logger {
        var logger = Logger(label: "gallery") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = verbose ? .debug : .warning
        return logger
    }
}
