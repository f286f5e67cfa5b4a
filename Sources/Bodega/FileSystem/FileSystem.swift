package import Foundation
import Logging

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Calls to the operating system that throw a ``StorageError`` with the path concerned.
package enum FileSystem {

    /// The most bytes to read or write with one call; some systems refuse two gibibytes and more.
    package static let largestTransfer = 1 << 30

    /// Repeats a call that a signal interrupted, and throws if it failed.
    ///
    /// - Parameters:
    ///   - path: The path, for the error.
    ///   - what: The failed action, as the end of the sentence "The file or folder could not be …".
    ///   - call: The call; a negative result means failure.
    @discardableResult
    package static func check<Number: SignedInteger>(
        _ path: @autoclosure () -> String,
        _ what: String,
        _ call: () -> Number
    ) throws -> Number {
        while true {
            let result = call()
            if result >= 0 { return result }
            let number = errno
            if number != EINTR { throw StorageError.system(number, path(), what) }
        }
    }

    /// Opens an entry of a folder.
    ///
    /// - Parameters:
    ///   - name: The name, or a path below the folder.
    ///   - folder: The folder, open.
    ///   - flags: How to open it. `O_CLOEXEC` is added.
    ///   - path: The entry's path, for the error.
    ///   - absent: The values of `errno` that mean that there is nothing to open.
    /// - Returns: The descriptor, which the caller closes; `nil` if there is nothing to open.
    package static func openIfPresent(
        _ name: String,
        in folder: Int32,
        _ flags: Int32,
        _ path: @autoclosure () -> String,
        absent: @autoclosure () -> Set<Int32> = [ENOENT, ENOTDIR]
    ) throws -> Int32? {
        while true {
            let descriptor = openat(folder, name, flags | O_CLOEXEC)
            if descriptor >= 0 { return descriptor }
            let number = errno
            if absent().contains(number) { return nil }
            if number != EINTR { throw StorageError.system(number, path(), "opened") }
        }
    }

    /// Releases the `flock` on a file, if there is one, and closes the file.
    ///
    /// Closing alone leaves the lock with each child forked in the meantime, until it executes another program.
    package static func closeLocked(_ descriptor: Int32) {
        unlock(descriptor)
        close(descriptor)
    }

    /// Releases the `flock` on a file, if there is one.
    package static func unlock(_ descriptor: Int32) {
        flock(descriptor, LOCK_UN)
        LockHolders.shared.remove(descriptor)
    }

    /// Takes an `flock` if it is free and the storage is not suspended. It is released with ``closeLocked(_:)``.
    ///
    /// - Parameter kind: `LOCK_EX` or `LOCK_SH`.
    static func tryLock(_ descriptor: Int32, _ kind: Int32) -> Bool {
        do {
            try LockHolders.shared.add(descriptor)
        } catch {
            return false
        }
        if flock(descriptor, kind | LOCK_NB) == 0 { return true }
        LockHolders.shared.remove(descriptor)
        return false
    }

    /// The status of a file.
    ///
    /// - Parameter followsLinks: Whether to follow a symbolic link.
    /// - Returns: `nil` if nothing exists under the name, or something other than a regular file.
    package static func statusOfFile(
        _ name: String,
        in folder: Int32 = AT_FDCWD,
        followsLinks: Bool = false,
        _ path: @autoclosure () -> String
    ) throws -> stat? {
        var status = stat()
        if fstatat(folder, name, &status, followsLinks ? 0 : AT_SYMLINK_NOFOLLOW) == 0 {
            return status.isFile ? status : nil
        }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        throw StorageError.system(errno, path(), "examined")
    }

    /// Whether a file or folder exists at a path, with symbolic links followed.
    ///
    /// - Throws: A ``StorageError`` if that can't be determined, for example because access to its folder is denied, or
    ///   if a part of the path is not a folder, so that nothing can exist there.
    package static func exists(atPath path: String) throws -> Bool {
        var status = stat()
        if stat(path, &status) == 0 { return true }
        if errno == ENOENT { return false }
        throw StorageError.system(errno, path, "examined")
    }

    /// Whether a folder has an entry of a name. A dangling link is an entry.
    package static func exists(_ name: String, in folder: Int32, _ path: @autoclosure () -> String) throws -> Bool {
        var status = stat()
        if fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return true }
        if errno == ENOENT || errno == ENOTDIR { return false }
        throw StorageError.system(errno, path(), "examined")
    }

    /// Creates a folder and its missing parents, accessible by the owner only. They survive a power failure.
    package static func createDirectory(at url: URL) throws {
        let path = url.path
        var status = stat()
        if stat(path, &status) == 0 {
            if status.st_mode & S_IFMT == S_IFDIR { return }
            throw StorageError.system(ENOTDIR, path, "used as a folder")
        }
        let parent = url.deletingLastPathComponent()
        if parent.path != path { try createDirectory(at: parent) }
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            throw StorageError.system(errno, path, "created")
        }
        try synchronizeDirectory(parent.path)
    }

    /// Makes the entries of a folder survive a power failure.
    package static func synchronizeDirectory(_ path: String) throws {
        let descriptor = try check(path, "opened") { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        defer { close(descriptor) }
        try synchronize(descriptor, path)
    }

    /// Makes the content of a file, or the entries of a folder, survive a power failure.
    package static func synchronize(_ descriptor: Int32, _ path: String) throws {
        #if canImport(Darwin)
        // On Apple platforms, fsync leaves the data in the drive's cache. Volumes without this call get fsync.
        while fcntl(descriptor, F_FULLFSYNC) != 0 {
            if errno == EINTR { continue }
            if [ENOTSUP, EINVAL, ENOTTY].contains(errno) { break }
            throw StorageError.system(errno, path, "made durable")
        }
        #endif
        while fsync(descriptor) != 0 {
            if errno == EINTR { continue }
            // Some file systems cannot sync a folder and need not.
            if errno == EINVAL { return }
            throw StorageError.system(errno, path, "made durable")
        }
    }

    /// Checks that a file can get a name.
    ///
    /// - Parameters:
    ///   - destination: The file's future location.
    ///   - replacing: Whether an existing file may be replaced.
    /// - Throws: ``StorageError/Code/invalidArgument`` if the name is taken.
    package static func checkFree(_ destination: URL, replacing: Bool) throws {
        var status = stat()
        guard lstat(destination.path, &status) == 0 else { return }
        if replacing, status.isFile { return }
        throw taken(
            destination, replacing ? "Something other than a file has this name." : "The name is already taken.")
    }

    private static func taken(_ destination: URL, _ what: String) -> StorageError {
        StorageError(.invalidArgument, "\(what) Choose another name or remove it.", file: destination)
    }

    /// Gives a finished file its name and makes both durable.
    ///
    /// - Parameters:
    ///   - draft: The file, under another name on the same volume.
    ///   - destination: The file's future location.
    ///   - replacing: Whether the file replaces an existing one of that name, which is an error otherwise.
    package static func publish(_ draft: URL, as destination: URL, replacing: Bool = false) throws {
        let descriptor = try check(draft.path, "opened") { open(draft.path, O_RDONLY | O_CLOEXEC) }
        defer { close(descriptor) }
        try synchronize(descriptor, draft.path)
        if replacing {
            try checkFree(destination, replacing: true)
            try check(destination.path, "replaced") { rename(draft.path, destination.path) }
            return try synchronizeDirectory(destination.deletingLastPathComponent().path)
        }
        // Unlike rename, link does not replace an existing file. Some volumes have no links; there, a file that appears
        // between the check and the renaming is replaced.
        if link(draft.path, destination.path) != 0 {
            let cannotLink = [EPERM, ENOTSUP, EOPNOTSUPP, EMLINK].contains(errno)
            if errno == EEXIST || cannotLink && access(destination.path, F_OK) == 0 {
                throw taken(destination, "The name is already taken.")
            }
            if !cannotLink || rename(draft.path, destination.path) != 0 {
                throw StorageError.system(errno, destination.path, "created")
            }
        }
        try synchronizeDirectory(destination.deletingLastPathComponent().path)
    }

    /// Removes a file that is no longer needed, if it exists.
    package static func discard(_ file: URL) {
        if unlink(file.path) != 0, errno != ENOENT {
            bodegaLogger.warning(
                "A file that is no longer needed could not be removed.",
                metadata: ["file": "\(file.path)", "errno": "\(errno)"]
            )
        }
    }
}

extension StorageError {

    /// Creates the error of a failed call to the operating system.
    ///
    /// - Parameters:
    ///   - number: The call's `errno`.
    ///   - path: The file or folder.
    ///   - what: The failed action, as the end of the sentence "The file or folder could not be …".
    package static func system(_ number: Int32, _ path: String, _ what: String) -> StorageError {
        let (code, advice): (Code, String) =
            switch number {
            case ENOSPC, EDQUOT, EFBIG: (.storageFull, "Make room and try again; nothing that was stored is lost.")
            case EROFS: (.readOnly, "The volume is read-only.")
            case EACCES, EPERM: (.permissionDenied, "Check its permissions and those of its folder.")
            case ENOTDIR: (.cannotOpen, "A part of its path is not a folder.")
            case ENOENT: (.cannotOpen, "It does not exist.")
            case ENAMETOOLONG: (.invalidArgument, "Its path or its name is too long. Choose a shorter one.")
            case EMFILE, ENFILE:
                (.inputOutput, "Too many files are open. Close some, or raise the limit, and try again.")
            default: (.inputOutput, "")
            }
        let ended = [ENOENT, ENOTDIR].contains(number) ? TemporaryStorage.advice(for: path) : nil
        let cause = NSError(
            domain: NSPOSIXErrorDomain,
            code: Int(number),
            userInfo: [NSLocalizedDescriptionKey: String(cString: strerror(number))]
        )
        return StorageError(
            ended == nil ? code : .placeRemoved,
            "The file or folder could not be \(what). \(ended ?? advice)".trimmingCharacters(in: .whitespaces),
            file: URL(fileURLWithPath: path),
            cause: cause
        )
    }
}
