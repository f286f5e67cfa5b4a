#if CommandLineTool
import ArgumentParser

/// How a command reports an error.
struct ReportingOptions: ParsableArguments {
    // Read by `Tool.run`, which reports errors.
    @Flag(help: "Show the whole cause of an error, for a bug report.")
    var verbose = false
}
#endif
