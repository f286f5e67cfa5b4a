import Foundation
import TestProcesses
import Testing

/// Lets a child process see more processors than there are: the system's thread pools grow with them.
package enum Processors {

    /// The environment for a child process that is to see eight processors, and so many itself if it needs no such help.
    ///
    /// - Parameter folder: Where the library is built that answers for the system.
    package static func eight(in folder: TemporaryFolder) throws -> [String: String] {
        if ProcessInfo.processInfo.activeProcessorCount >= 8 { return [:] }
        let library = folder.file("processors.so")
        let source = Fixtures.root.appendingPathComponent("Tools/EightProcessors/processors.c")
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        compiler.arguments = ["clang", "-shared", "-fPIC", "-o", library.path, source.path]
        try compiler.start()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0)
        return ["LD_PRELOAD": library.path]
    }
}
