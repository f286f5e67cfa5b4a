import Foundation
import Mustache

/// The templates of the pages. All values in them are escaped for HTML, which `{{…}}` does; `{{{…}}}` does not occur.
struct Templates: Sendable {
    private let library: MustacheLibrary

    /// Loads all templates.
    ///
    /// - Throws: What is wrong with one of them.
    init() async throws {
        library = try await MustacheLibrary(directory: WebFiles.folder("Templates").path)
    }

    /// Fills a page's values into its template.
    func render(_ page: some Page) -> String {
        guard let html = library.render(page, withTemplate: page.template) else {
            preconditionFailure("There is no template named \(page.template).")
        }
        return html
    }
}

/// A page with all its values, ready for its template.
protocol Page: Sendable {
    /// The template's name.
    var template: String { get }
    /// What all pages have.
    var chrome: Chrome { get }
}
