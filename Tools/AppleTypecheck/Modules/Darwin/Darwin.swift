// What the system library of Apple's platforms has in addition, or with another signature, as far as the sources use it.

@_exported import Glibc

/// The `fcntl` command that makes the medium write its own cache.
public let F_FULLFSYNC: Int32 = 51

/// The option of a socket that keeps a write to a closed connection from sending SIGPIPE.
public let SO_NOSIGPIPE: Int32 = 0x1022

func declarationOnly() -> Never {
    fatalError("This module is for type-checking only.")
}
