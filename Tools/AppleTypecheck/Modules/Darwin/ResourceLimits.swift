// On Apple platforms a resource is a plain number.

public let RLIMIT_FSIZE: Int32 = 1

public let RLIMIT_NOFILE: Int32 = 8

public func getrlimit(_ resource: Int32, _ limit: UnsafeMutablePointer<rlimit>!) -> Int32 { declarationOnly() }

public func setrlimit(_ resource: Int32, _ limit: UnsafePointer<rlimit>!) -> Int32 { declarationOnly() }
