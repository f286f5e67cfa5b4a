public import Bodega
public import Foundation

/// The command `profiler`, to be run with the engines of whoever calls it.
///
/// Who writes an engine makes a program of a few lines:
///
/// ```swift
/// import EngineProfiler
///
/// await Profiler.main(engine: "mine") { folder in
///     try MyStorageEngine(folder: folder)
/// }
/// ```
///
/// It has all the commands of `profiler`. `run` without addresses profiles that engine, and `run mine sqlite` puts it
/// beside another.
public enum Profiler {

    /// The engines that the program brings.
    @TaskLocal static var engines: [ProfiledEngine] = []

    /// Runs the command line of the process with the engines of this package, and ends the process.
    public static func main() async {
        await main(engines: [])
    }

    /// Runs the command line of the process with one more engine, and ends the process.
    ///
    /// - Parameters:
    ///   - name: What the command line and the reports call the engine. The names `sqlite`, `disk` and `memory` are
    ///     taken.
    ///   - open: Opens the engine in a folder, which is empty at first. It is called again to see whether the items
    ///     are still there; an engine that keeps nothing in the folder is taken for one that need not.
    public static func main(
        engine name: String,
        open: @escaping @Sendable (URL) async throws -> any StorageEngine
    ) async {
        await main(engines: [ProfiledEngine(name, open: open)])
    }

    /// Runs the command line of the process with more engines, and ends the process.
    ///
    /// - Parameter engines: The engines. Each needs a name of its own.
    public static func main(engines: [ProfiledEngine]) async {
        let names = engines.map(\.name)
        let taken = Set(names).intersection(BuiltInEngine.allCases.map(\.rawValue))
        precondition(taken.isEmpty, "These names of engines are taken: \(taken.sorted().joined(separator: ", ")).")
        precondition(Set(names).count == names.count, "Two engines have one name.")
        await $engines.withValue(engines) {
            await ProfilerCommand.runProcess()
        }
    }
}
