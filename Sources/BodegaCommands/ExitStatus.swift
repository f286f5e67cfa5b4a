/// What the tool tells its caller by its exit status.
package enum ExitStatus: Int32, Sendable, CaseIterable {
    /// Everything was done.
    case success = 0
    /// A store or a file could not be read or written, or the store does not exist.
    case failure = 1
    /// The store has no item under a key that was asked for.
    case keyNotFound = 3
    /// What was to be imported is not what it should be.
    case badInput = 4
    /// The arguments make no sense: `EX_USAGE` of sysexits.h.
    case usage = 64
    /// Nobody reads the output any more. Shells report the same for a program that SIGPIPE ended.
    case brokenPipe = 141
}

extension ExitStatus {
    /// The meanings, as the help shows them.
    package static let help = """
        EXIT STATUS:
          0    success
          1    a store or file can't be read or written, or the store doesn't exist
          3    there is no item under a key that was asked for
          4    the input of an import is damaged or misses a key
          64   the arguments make no sense
          141  the reader of the output went away
        """
}
