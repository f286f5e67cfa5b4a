// Declarations of the system library of Apple platforms that other platforms lack or declare differently, as far as the
// sources use them.

@_exported import Glibc

/// The `fcntl` command that makes the disk write its own cache.
public let F_FULLFSYNC: Int32 = 51

/// The socket option that prevents SIGPIPE for a write to a closed connection.
public let SO_NOSIGPIPE: Int32 = 0x1022

func declarationOnly() -> Never {
    fatalError("This module is for type-checking only.")
}
