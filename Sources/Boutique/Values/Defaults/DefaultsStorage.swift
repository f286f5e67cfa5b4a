import Bodega
import Foundation

/// The storage for values of user defaults: the user defaults where these are reliable, else a ``DefaultsFile``.
func defaultsStorage(for defaults: UserDefaults) -> any ValueStorage {
    if defaults === UserDefaults.standard, let storage = TemporaryStorage.current {
        return TemporaryDefaults(in: storage)
    }
    #if canImport(Darwin)
    return PlatformDefaults(defaults)
    #else
    guard let domain = defaults.domain else { return PlatformDefaults(defaults) }
    let folder = FileManager.Directory.applicationSupport(appendingPath: "emporium/defaults")
    let file = folder.url.appendingPathComponent(fileName(domain) + ".values", isDirectory: false)
    return DefaultsInFile(file: .shared(file), domain: domain, defaults: defaults)
    #endif
}

#if !canImport(Darwin)
/// A file name, unique for each domain.
private func fileName(_ domain: String) -> String {
    let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.".utf8)
    let name = domain.utf8.enumerated()
        .map { index, byte in
            let isPlain = plain.contains(byte) && !(index == 0 && byte == UInt8(ascii: "."))
            return isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        .joined()
    // Some file systems reject longer names.
    return name.utf8.count <= 200 ? name : "%" + CacheKey(domain).value
}

extension UserDefaults {

    /// The name of the suite; for the standard defaults, that of the program; `nil` if it is unknown.
    ///
    /// No API returns it. The property is that of Swift's own Foundation; a test fails if it disappears.
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
