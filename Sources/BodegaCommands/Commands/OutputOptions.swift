#if CommandLineTool
import ArgumentParser

extension ColorChoice: ExpressibleByArgument {}

/// How a command shows its output.
struct OutputOptions: ParsableArguments {
    @Option(help: "When to use colors; auto respects the environment variable NO_COLOR.")
    var color = ColorChoice.auto

    /// Applies the user's choice to a console.
    func applied(to console: Console) -> Console {
        var console = console
        switch color {
        case .auto: break
        case .always: console.isColored = true
        case .never: console.isColored = false
        }
        return console
    }
}

/// How a command reports an error.
struct ReportingOptions: ParsableArguments {
    // Read by `Tool.run`, which reports errors.
    @Flag(help: "Show the whole cause of an error, for a bug report.")
    var verbose = false
}
#endif
