// The times of a file have other names on Apple platforms, and there is one more.

extension stat {
    public var st_atimespec: timespec { declarationOnly() }
    public var st_mtimespec: timespec { declarationOnly() }
    public var st_ctimespec: timespec { declarationOnly() }
    public var st_birthtimespec: timespec { declarationOnly() }
}
