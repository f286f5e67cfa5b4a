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
        render(page, with: page.template)
    }

    /// Renders a part of a page.
    func render(_ card: ArchiveCard) -> String {
        render(card, with: "archive-card")
    }

    /// Renders the summary of a search, and the link to more pictures.
    func render(_ summary: ArchiveSummary) -> (summary: String, more: String) {
        (render(summary, with: "archive-summary"), render(summary, with: "archive-more"))
    }

    private func render(_ value: some Sendable, with template: String) -> String {
        guard let html = library.render(value, withTemplate: template) else {
            preconditionFailure("There is no template named \(template).")
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
