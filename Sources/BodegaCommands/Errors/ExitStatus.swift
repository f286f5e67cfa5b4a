/// What the tool tells its caller by its exit status.
package enum ExitStatus: Int32, Sendable, CaseIterable {
    /// Everything was done.
    case success = 0
    /// A store or a file could not be read or written, or the store does not exist.
    case failure = 1
    /// Two stores could not be compared: diff keeps 1 for those that differ.
    case trouble = 2
    /// The store has no item under a key that was asked for.
    case keyNotFound = 3
    /// What was to be imported is not what it should be.
    case badInput = 4
    /// The arguments make no sense: `EX_USAGE` of sysexits.h.
    case usage = 64
    /// The user interrupted it, as shells report that: 128 and the number of SIGINT.
    case interrupted = 130
    /// Somebody ended it: 128 and the number of SIGTERM.
    case terminated = 143
    /// Nobody reads the output any more. Shells report the same for a program that SIGPIPE ended.
    case brokenPipe = 141
}

extension ExitStatus {
    /// The meanings, as the help shows them.
    package static let help = """
        EXIT STATUS:
          0    success
          1    a store or file can't be read or written, or the store doesn't exist; verify found
               something wrong; diff found a difference
          2    diff could not compare
          3    there is no item under a key that was asked for
          4    the input of an import is damaged or misses a key
          64   the arguments make no sense
          130  interrupted by Ctrl-C
          141  the reader of the output went away
          143  ended by another program
        """
}
