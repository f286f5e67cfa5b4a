import Foundation

/// The bundled files: templates, and the files of the pages.
enum WebFiles {
    /// A folder of these files.
    ///
    /// - Parameter name: Its name.
    static func folder(_ name: String) -> URL {
        let base = Bundle.module.resourceURL ?? Bundle.module.bundleURL
        return base.appendingPathComponent("Web/\(name)", isDirectory: true)
    }
}
