public import Bodega
public import Foundation

/// The command `profiler`, for programs with engines of their own.
///
/// To profile an engine of your own, write a program of a few lines:
///
/// ```swift
/// import EngineProfiler
///
/// await Profiler.main(engine: "mine") { folder in
///     try MyStorageEngine(folder: folder)
/// }
/// ```
///
/// The program has all commands of `profiler`. `run` without addresses profiles that engine, and `run mine sqlite`
/// compares it with another one.
public enum Profiler {

    /// The engines of the program.
    @TaskLocal static var engines: [ProfiledEngine] = []

    /// Runs the command line of the process with the engines of this package, and ends the process.
    public static func main() async {
        await main(engines: [])
    }

    /// Runs the command line of the process with one more engine, and ends the process.
    ///
    /// - Parameters:
    ///   - name: The name of the engine on the command line and in reports. The names `sqlite`, `disk` and `memory` are
    ///     reserved.
    ///   - open: Opens the engine in a folder, which is empty at first. It is called again to check that the items are
    ///     still there, unless the engine has written nothing into the folder.
    public static func main(
        engine name: String,
        open: @escaping @Sendable (URL) async throws -> any StorageEngine
    ) async {
        await main(engines: [ProfiledEngine(name, open: open)])
    }

    /// Runs the command line of the process with more engines, and ends the process.
    ///
    /// - Parameter engines: The engines. Their names must differ.
    public static func main(engines: [ProfiledEngine]) async {
        let names = engines.map(\.name)
        let taken = Set(names).intersection(BuiltInEngine.allCases.map(\.rawValue))
        precondition(taken.isEmpty, "These engine names are reserved: \(taken.sorted().joined(separator: ", ")).")
        precondition(Set(names).count == names.count, "Two engines have the same name.")
        await $engines.withValue(engines) {
            await ProfilerCommand.runProcess()
        }
    }
}
