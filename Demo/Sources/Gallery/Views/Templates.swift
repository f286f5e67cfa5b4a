import Foundation
import Mustache

/// The templates of the pages. `{{…}}` escapes values for HTML; no template uses `{{{…}}}`.
struct Templates: Sendable {
    private let library: MustacheLibrary

    /// Loads all templates.
    ///
    /// - Throws: An error if a template is invalid.
    init() async throws {
        library = try await MustacheLibrary(directory: WebFiles.folder("Templates").path)
    }

    /// Renders a page with its template.
    func render(_ page: some Page) -> String {
        guard let html = library.render(page, withTemplate: page.template) else {
            preconditionFailure("There is no template named \(page.template).")
        }
        return html
    }
}

/// A page with all values of its template.
protocol Page: Sendable {
    /// The template's name.
    var template: String { get }
    /// The shared parts of the page.
    var chrome: Chrome { get }
}
