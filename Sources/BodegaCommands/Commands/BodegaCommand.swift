#if CommandLineTool
import ArgumentParser

/// A command that reads and writes the console it is given.
protocol ConsoleCommand: ParsableCommand {
    /// Does what the command is for.
    func run(on console: Console) async throws
}

/// The command `bodega`, which shows its help.
struct BodegaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bodega",
        abstract: "Bytes under keys, in an SQLite file, a folder or a PostgreSQL database.",
        discussion: """
            A STORE is sqlite:PATH or disk:PATH; sqlite:PATH#NAME is a collection in an SQLite file. The scheme can be \
            left out where the path tells: a folder, an SQLite file, or a new file named .sqlite3, .sqlite or .db. \
            postgres://USER@HOST/DATABASE#NAME is a collection in a PostgreSQL database, if the tool was built with the \
            trait Postgres. Passwords belong in ~/.pgpass, where no list of processes shows them.

            Commands that only read create and change nothing, neither in a store nor beside it. Those that write give \
            an SQLite file of Bodega 2 WAL mode and a column; Bodega 2 can use it all the same.

            EXAMPLES:
              bodega import languages.db iso_639-3.json --array 639-3 --key alpha_3
              bodega ls languages.db --limit 10
              bodega get languages.db deu
              bodega export languages.db | bodega import disk:languages
              bodega query languages.db --where '@.type == "A"' --sort name --limit 5
              bodega help import

            COMPLETION:
              bodega --generate-completion-script bash > ~/.local/share/bash-completion/completions/bodega
              zsh and fish are served in the same way.

            \(ExitStatus.help)
            """,
        version: "0.1.0",
        subcommands: [
            ImportCommand.self, ExportCommand.self, ListCommand.self, GetCommand.self, PutCommand.self,
            RemoveCommand.self, CountCommand.self, StatCommand.self, CopyCommand.self,
            DiffCommand.self, QueryCommand.self, WatchCommand.self, VerifyCommand.self, BackupCommand.self,
            CompactCommand.self,
            ManualCommand.self,
        ]
    )
}
#endif
