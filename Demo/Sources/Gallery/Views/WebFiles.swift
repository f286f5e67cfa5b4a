import Foundation

/// The files that the program brings along: templates, and what belongs to the pages.
enum WebFiles {
    /// A folder of them.
    ///
    /// - Parameter name: Its name.
    static func folder(_ name: String) -> URL {
        let base = Bundle.module.resourceURL ?? Bundle.module.bundleURL
        return base.appendingPathComponent("Web/\(name)", isDirectory: true)
    }
}
