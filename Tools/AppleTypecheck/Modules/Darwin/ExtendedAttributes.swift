// On Apple platforms these functions take a position and options, and the error of a missing attribute differs.

public let ENOATTR: Int32 = 93

public let XATTR_NOFOLLOW: Int32 = 0x1
public let XATTR_CREATE: Int32 = 0x2
public let XATTR_REPLACE: Int32 = 0x4

public func getxattr(
    _ path: UnsafePointer<CChar>!,
    _ name: UnsafePointer<CChar>!,
    _ value: UnsafeMutableRawPointer!,
    _ size: Int,
    _ position: UInt32,
    _ options: Int32
) -> Int { declarationOnly() }

public func fgetxattr(
    _ fd: Int32,
    _ name: UnsafePointer<CChar>!,
    _ value: UnsafeMutableRawPointer!,
    _ size: Int,
    _ position: UInt32,
    _ options: Int32
) -> Int { declarationOnly() }

public func setxattr(
    _ path: UnsafePointer<CChar>!,
    _ name: UnsafePointer<CChar>!,
    _ value: UnsafeRawPointer!,
    _ size: Int,
    _ position: UInt32,
    _ options: Int32
) -> Int32 { declarationOnly() }

public func fsetxattr(
    _ fd: Int32,
    _ name: UnsafePointer<CChar>!,
    _ value: UnsafeRawPointer!,
    _ size: Int,
    _ position: UInt32,
    _ options: Int32
) -> Int32 { declarationOnly() }
