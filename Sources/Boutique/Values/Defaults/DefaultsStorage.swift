import Bodega
import Foundation

/// Where the values of user defaults are: in the user defaults where these are reliable, else in a file of ours.
func defaultsStorage(for defaults: UserDefaults) -> any ValueStorage {
    #if canImport(Darwin)
    PlatformDefaults(defaults)
    #else
    guard let domain = defaults.domain else { return PlatformDefaults(defaults) }
    let folder = FileManager.Directory.applicationSupport(appendingPath: "emporium/defaults")
    let file = folder.url.appendingPathComponent(fileName(domain) + ".plist", isDirectory: false)
    return DefaultsInFile(file: .shared(file), domain: domain, defaults: defaults)
    #endif
}

#if !canImport(Darwin)
/// A name for a file, different for each domain.
private func fileName(_ domain: String) -> String {
    let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.".utf8)
    let name = domain.utf8.enumerated()
        .map { index, byte in
            let isPlain = plain.contains(byte) && !(index == 0 && byte == UInt8(ascii: "."))
            return isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        .joined()
    // Longer ones are no file names everywhere.
    return name.utf8.count <= 200 ? name : "%" + CacheKey(domain).value
}

extension UserDefaults {

    /// The name of the suite, for the standard one that of the program; `nil` if it cannot be found out.
    ///
    /// There is no API that tells. The property is that of Swift's own Foundation; a test notices if it goes away.
    fileprivate var domain: String? {
        var mirror: Mirror? = Mirror(reflecting: self)
        while let current = mirror {
            if let suite = current.children.first(where: { $0.label == "suite" })?.value as? String? {
                return suite ?? Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
            }
            mirror = current.superclassMirror
        }
        return nil
    }
}
#endif
