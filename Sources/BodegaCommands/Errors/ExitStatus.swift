/// The exit status of the tool.
enum ExitStatus: Int32, Sendable, CaseIterable {
    /// The command succeeded.
    case success = 0
    /// A store or a file could not be read or written, or the store does not exist.
    case failure = 1
    /// Two stores could not be compared; for `diff`, 1 means that they differ.
    case trouble = 2
    /// The store has no item under a requested key.
    case keyNotFound = 3
    /// The input of an import is malformed.
    case badInput = 4
    /// The arguments are invalid: `EX_USAGE` of sysexits.h.
    case usage = 64
    /// SIGINT ended the command: 128 plus the number of the signal, as shells report it.
    case interrupted = 130
    /// SIGTERM ended the command: 128 plus the number of the signal.
    case terminated = 143
    /// The reader of the output closed it. Shells report the same for a program that SIGPIPE ended.
    case brokenPipe = 141
}

extension ExitStatus {
    /// The list of exit statuses in the help.
    static let help = """
        EXIT STATUS:
          0    success
          1    a store or file can't be read or written, or the store doesn't exist; verify found
               a problem; diff found a difference
          2    diff could not compare the stores
          3    there is no item under a requested key
          4    the input of an import is malformed or lacks a key
          64   the arguments are invalid
          130  interrupted by Ctrl-C
          141  the reader of the output closed it
          143  ended by SIGTERM
        """
}
