#if CommandLineTool
import ArgumentParser

extension ColorChoice: ExpressibleByArgument {}

/// How a command shows what it has found.
struct OutputOptions: ParsableArguments {
    @Option(help: "When to use colours. NO_COLOR in the environment is respected by auto.")
    var color = ColorChoice.auto

    /// The console with the user's choice.
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
#endif
