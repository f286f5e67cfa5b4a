import Foundation

// The system calls that the tool uses, under names that methods named `read` and `write` don't shadow.

/// The arguments of the process, with its name, as they were given.
func systemArguments() -> [[UInt8]] {
    (0..<Int(CommandLine.argc)).compactMap { number in
        CommandLine.unsafeArgv[number].map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }
}

/// Calls `read`, and retries if a signal interrupts it.
///
/// - Returns: The number of bytes, 0 at the end, or -1 with `errno` set.
func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        if count >= 0 || errno != EINTR { return count }
    }
}

/// Calls `write`, and retries if a signal interrupts it.
///
/// - Returns: The number of bytes, or -1 with `errno` set.
func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
    while true {
        let count = write(descriptor, buffer.baseAddress, buffer.count)
        if count >= 0 || errno != EINTR { return count }
    }
}

/// Waits until one of two descriptors can be read or is at its end.
func systemWaitToRead(_ first: Int32, or second: Int32) {
    var entries = [first, second].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    // An error here occurs again, and is reported, when the descriptor is read.
    while poll(&entries, nfds_t(entries.count), -1) < 0, errno == EINTR {}
}

/// Whether a descriptor can be read, or is at its end, within some time.
///
/// - Parameter other: A descriptor that ends the wait when it can be read; `nil` if there is none.
func systemCanRead(_ descriptor: Int32, unless other: Int32? = nil, seconds: Double) -> Bool {
    var entries = [descriptor, other ?? -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    // A signal ends the wait early, as if the time had passed. Descriptors below zero are ignored.
    return poll(&entries, nfds_t(entries.count), Int32((seconds * 1000).rounded(.up))) > 0 && entries[0].revents != 0
}

/// Makes a pipe, `nil` if the process can open no more files.
func systemPipe() -> (reading: Int32, writing: Int32)? {
    var descriptors: [Int32] = [-1, -1]
    guard pipe(&descriptors) == 0 else { return nil }
    for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    return (descriptors[0], descriptors[1])
}

/// Creates a file for writing; fails if it exists.
///
/// - Parameter permissions: Its permissions, before the process's umask is applied.
func systemCreate(_ path: String, permissions: mode_t) -> Int32 {
    open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions)
}

/// Takes the exclusive `flock` of an open file, unless another descriptor has it.
func systemLock(_ descriptor: Int32) -> Bool {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
        if errno != EINTR { return false }
    }
    return true
}

/// Releases the `flock` of an open file, also if another process has a copy of the descriptor.
func systemUnlock(_ descriptor: Int32) {
    flock(descriptor, LOCK_UN)
}

/// The names of a folder's entries, in no particular order, as bytes because they need not be valid UTF-8.
///
/// - Parameter path: Where the folder is, without a NUL at its end.
/// - Returns: `nil`, with `errno` set, if the folder can't be read.
func systemNames(inFolder path: [UInt8]) -> [[UInt8]]? {
    let opened = (path + [0]).withUnsafeBytes { bytes in
        bytes.withMemoryRebound(to: CChar.self) { path in path.baseAddress.flatMap { opendir($0) } }
    }
    guard let listing = opened else { return nil }
    var names: [[UInt8]] = []
    while true {
        errno = 0
        guard let entry = readdir(listing) else {
            let number = errno
            closedir(listing)
            errno = number
            return number == 0 ? names : nil
        }
        let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
            // The name ends with a NUL inside of the field.
            let start = UnsafeRawPointer(field)
            return Array(UnsafeRawBufferPointer(start: start, count: strlen(start.assumingMemoryBound(to: CChar.self))))
        }
        if name != Array(".".utf8), name != Array("..".utf8) { names.append(name) }
    }
}

/// The offset of the first one of some bytes, `nil` if there is none.
func systemFind(_ byte: UInt8, in buffer: UnsafeRawBufferPointer) -> Int? {
    guard let start = buffer.baseAddress, let found = memchr(start, Int32(byte), buffer.count) else { return nil }
    return UnsafeRawPointer(found) - start
}

/// The number of columns of a terminal, `nil` if it is unknown.
func terminalWidth(_ descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
}

/// Whether the reading end of a pipe is closed, or is within some time.
func hasNoReader(_ descriptor: Int32, seconds: Int32 = 0) -> Bool {
    var entry = pollfd(fd: descriptor, events: 0, revents: 0)
    return poll(&entry, 1, seconds * 1_000) > 0 && entry.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
}

/// The system's text for the last error.
var lastErrorText: String { String(cString: strerror(errno)) }
