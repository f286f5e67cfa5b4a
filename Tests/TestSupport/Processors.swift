import Foundation

/// Makes a child process see more processors than there are, so that the system's thread pools grow.
package enum Processors {

    /// The environment for a child process that sees at least eight processors; empty if the machine has that many.
    ///
    /// - Parameter folder: The folder for the library that replaces the system's functions.
    package static func eight(in folder: TemporaryFolder) throws -> [String: String] {
        if ProcessInfo.processInfo.activeProcessorCount >= 8 { return [:] }
        let library = folder.file("processors.so")
        let source = Fixtures.root.appendingPathComponent("Tools/EightProcessors/processors.c")
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        compiler.arguments = ["clang", "-shared", "-fPIC", "-o", library.path, source.path]
        try compiler.start()
        compiler.waitUntilExit()
        guard compiler.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
        return ["LD_PRELOAD": library.path]
    }
}
