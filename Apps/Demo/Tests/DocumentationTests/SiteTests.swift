import Browsing
import Foundation
import Testing

/// The documentation of all products, as `bin/docs --preview` builds and serves it.
@Suite(.serialized)
struct SiteTests {

    /// The folder of this repository.
    private static let root = (0..<5).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
        url.deletingLastPathComponent()
    }

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "documentation-tests-\(UUID().uuidString)")

    @Test func `The preview serves the site, and its pages can be read in a browser`() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { remove(folder) }
        let server = try await ServerProcess(
            Self.root.appendingPathComponent("bin/docs"), ["--preview", "--skip-build"], addressEndingWith: "/)",
            log: folder.appendingPathComponent("log"))
        #expect(server.address.hasPrefix("http://127.0.0.1:"))
        let site = try Site(Self.root.appendingPathComponent(".build/docs/site"))
        #expect(site.deadLinks == [])
        #expect(site.articles.count > 20)

        try await Browser.run { browser in
            let tab = try await browser.open(server.address)
            // The root leads to the landing page.
            try await tab.wait(for: "document.querySelector('h1')?.innerText.trim() === 'Emporium'")
            // All articles, and a sample of the symbols.
            let symbols = site.pages.subtracting(site.articles).sorted()
            let sample = stride(from: 0, to: symbols.count, by: max(symbols.count / 20, 1)).map { symbols[$0] }
            for page in site.articles.sorted() + sample {
                try await tab.navigate(to: server.address + page)
                try await tab.wait(for: "document.querySelector('main h1')?.innerText.trim()")
                #expect(try await tab.text("main h1") == site.titles[page])
                let links = try await tab.evaluate(
                    "[...document.querySelectorAll('main a[href^=\"/\"]')].map((link) => link.pathname)",
                    as: [String].self)
                for link in links {
                    #expect(site.has(link), "\(page) links to \(link)")
                }
            }
            try await search(server, tab)
            try await look(at: ["/documentation/emporium", "/documentation/boutique/store"], of: server, tab)
            let problems = await tab.problems
            #expect(problems == [])
        }
        #expect(try await server.stop() == -SIGTERM)
    }

    /// Searches on the landing page for a symbol of each product, and for an article.
    private func search(_ server: ServerProcess, _ tab: Tab) async throws {
        try await tab.navigate(to: server.address + "/documentation/emporium")
        try await tab.wait(for: "document.querySelector('.navigator input')")
        for word in [
            "StoredValue", "CodableStoreContainer", "MirroredStorageEngine", "PostgresDatabase", "HTTPStorageOptions",
            "FaultInjectingStorageEngine", "RecordDecoder", "StorageServerLimits", "WebTokenAccess", "Encryption",
        ] {
            _ = try await tab.evaluate(
                """
                (() => {
                    const input = document.querySelector('.navigator input');
                    const value = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
                    value.set.call(input, \(Tab.quoted(word)));
                    input.dispatchEvent(new Event('input', { bubbles: true }));
                    return true;
                })()
                """, as: Bool.self)
            try await tab.wait(for: "document.querySelector('.navigator').innerText.includes(\(Tab.quoted(word)))")
        }
    }

    /// Takes screenshots of pages, in light and dark, in wide and narrow windows.
    private func look(at pages: [String], of server: ServerProcess, _ tab: Tab) async throws {
        for page in pages {
            for (scheme, width) in [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)] {
                try await tab.setColorScheme(scheme)
                try await tab.resize(width, 900, isPhone: width < 500)
                try await tab.navigate(to: server.address + page)
                try await tab.wait(for: "document.querySelector('main h1')?.innerText.trim()")
                let background = try await tab.evaluate("getComputedStyle(document.body).backgroundColor")
                #expect(background == (scheme == "dark" ? "rgb(0, 0, 0)" : "rgb(255, 255, 255)"))
                let widest = try await tab.evaluate("document.documentElement.scrollWidth", as: Int.self)
                #expect(widest <= width, "\(page) is \(widest) points wide in a window of \(width).")
                let name = page.split(separator: "/").last ?? "page"
                try await tab.screenshot("documentation-\(name)-\(scheme)-\(width)")
            }
        }
    }

    private func remove(_ folder: URL) {
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            print("A temporary folder was not removed: \(error)")
        }
    }
}

/// The files of a site.
private struct Site {
    /// The paths of all pages, in lower case.
    private(set) var pages: Set<String> = []
    /// Those of the pages that do not document a symbol.
    private(set) var articles: Set<String> = []
    /// The titles of the pages.
    private(set) var titles: [String: String] = [:]
    private var links: [String: Set<String>] = [:]

    /// Reads what DocC has written about each page.
    init(_ folder: URL) throws {
        struct Page: Decodable {
            struct Reference: Decodable { let url: String? }
            struct Metadata: Decodable { let title: String }
            let kind: String
            let metadata: Metadata
            let references: [String: Reference]
        }
        let data = folder.appendingPathComponent("data")
        let files = FileManager.default.enumerator(at: data, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "json" else { continue }
            let path = String(file.deletingPathExtension().path.dropFirst(data.path.count)).lowercased()
            let page = try JSONDecoder().decode(Page.self, from: Data(contentsOf: file))
            pages.insert(path)
            titles[path] = page.metadata.title
            if page.kind != "symbol" { articles.insert(path) }
            links[path] = Set(page.references.values.compactMap(\.url))
            let html = folder.appendingPathComponent(path + "/index.html")
            guard FileManager.default.fileExists(atPath: html.path) else { throw CocoaError(.fileNoSuchFile) }
        }
    }

    /// The links to pages of the site that do not exist, with the pages that contain them.
    var deadLinks: [String] {
        links.flatMap { page, links in
            links.filter { $0.hasPrefix("/") && !has($0) }.map { "\(page): \($0)" }
        }.sorted()
    }

    func has(_ link: String) -> Bool {
        let path = link.lowercased().prefix { $0 != "#" }
        return pages.contains(path.hasSuffix("/") ? String(path.dropLast()) : String(path))
    }
}
