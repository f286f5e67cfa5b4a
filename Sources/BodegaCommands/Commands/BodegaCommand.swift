#if CommandLineTool
import ArgumentParser

/// A command that uses a given console.
protocol ConsoleCommand: ParsableCommand {
    /// Runs the command.
    func run(on console: Console) async throws
}

/// The command `bodega`, which shows its help.
struct BodegaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bodega",
        abstract: "Bytes under keys, in an SQLite file, a folder, a PostgreSQL database or on a server.",
        discussion: """
            A STORE is sqlite:PATH or disk:PATH; sqlite:PATH#NAME is a collection in an SQLite file. The scheme can be \
            left out for a folder, an SQLite file, or a new file named .sqlite3, .sqlite or .db. \
            postgres://USER@HOST/DATABASE#NAME is a collection in a PostgreSQL database, if the tool was built with \
            the trait Postgres. Keep passwords in ~/.pgpass, because lists of processes show arguments.

            https://HOST/PATH#NAME is a collection of a server, such as bodega serve; without #NAME it is the unnamed \
            one. http:// is for 127.0.0.1, [::1] and localhost only. The token is in the file of --token-file, which \
            other users must not be able to read, or in the variable BODEGA_TOKEN. All commands work over a server, \
            except compact, backup, serve, stat --check, outbox, the local side of sync, and the removal of old keys \
            of a keyset, which need the store itself.

            Commands that only read neither create nor change the store's files. Commands that write give an SQLite \
            file of Bodega 2 WAL mode and one more column; Bodega 2 can still use the file.

            The items of an encrypted store are decrypted with the keyset in the file of --keyset, which other users \
            must not be able to read, or in the variable BODEGA_KEYSET, in JSON. See bodega help keyset create. An \
            encrypted item must fit into memory.

            EXAMPLES:
              bodega import languages.db iso_639-3.json --array 639-3 --key alpha_3
              bodega ls languages.db --limit 10
              bodega get languages.db deu
              bodega export languages.db | bodega import disk:languages
              bodega query languages.db --where '@.type == "A"' --sort name --limit 5
              bodega help import

            ENVIRONMENT:
              BODEGA_KEYSET  the keyset of an encrypted store, in JSON, if --keyset is not given;
                             copy, diff and keyset rotate don't use it
              TMPDIR         the folder for temporary files of put, by default /var/tmp
              BODEGA_TOKEN   the token for a server, if --token-file is not given
              NO_COLOR       no colors if it is set and not empty

            COMPLETION:
              bodega --generate-completion-script bash > ~/.local/share/bash-completion/completions/bodega
              zsh and fish are supported in the same way.

            \(ExitStatus.help)
            """,
        version: "1.0.0",
        subcommands: [
            ImportCommand.self, ExportCommand.self, ListCommand.self, GetCommand.self, PutCommand.self,
            RemoveCommand.self, CountCommand.self, StatCommand.self, CopyCommand.self,
            DiffCommand.self, QueryCommand.self, WatchCommand.self, VerifyCommand.self, BackupCommand.self,
            CompactCommand.self, KeysetCommand.self, ServeCommand.self, TokenCommand.self, SyncCommand.self,
            OutboxCommand.self, ManualCommand.self,
        ]
    )
}
#endif
