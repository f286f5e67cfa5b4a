package import Foundation

extension URL {

    /// The location of a file, independent of the working directory from now on.
    ///
    /// A URL without a scheme, such as `URL(string: "notes")`, has a relative path, which begins at the working
    /// directory of the moment in which it is used.
    package var fixed: URL {
        let path = path
        if path.isEmpty || path.hasPrefix("/") { return self }
        return URL(fileURLWithPath: path, isDirectory: hasDirectoryPath).absoluteURL
    }
}
