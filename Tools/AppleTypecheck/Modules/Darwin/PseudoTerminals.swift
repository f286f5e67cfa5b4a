// Glibc declares these functions only under a feature macro.

public func posix_openpt(_ flags: Int32) -> Int32 { declarationOnly() }

public func grantpt(_ master: Int32) -> Int32 { declarationOnly() }

public func unlockpt(_ master: Int32) -> Int32 { declarationOnly() }

public func ptsname(_ master: Int32) -> UnsafeMutablePointer<CChar>! { declarationOnly() }
