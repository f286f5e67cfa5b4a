import Bodega
import Browsing
import Foundation
import Testing

extension BrowserTests {

    /// Creates an album with the form of the page.
    private func createAlbum(_ name: String, _ tab: Tab) async throws {
        try await tab.click("#album-name")
        try await tab.type(name)
        try await tab.press(.enter)
        try await expectNotice("The album “\(name)” has been created.", tab)
        try await tab.wait(for: "document.querySelector('#album-name').value === ''")
    }

    private func screenshotAlbums(_ name: String, _ tab: Tab) async throws {
        _ = try await tab.evaluate("document.querySelector('#albums').scrollIntoView({ behavior: 'instant' }), ''")
        try await tab.wait(for: "[...document.querySelectorAll('.cover img')].every((image) => image.complete)")
        try await tab.screenshot(name)
    }

    /// The number of favourites and of albums on the home page.
    private static let numbers =
        """
        document.querySelectorAll('#grid .card').length + "/" + document.querySelectorAll('#albums-grid .card').length
        """

    @Test func `A favourite is added to albums and removed from them, in the page`() async throws {
        try await run { program, browser in
            let tab = try await home(program, browser)
            #expect(try await tab.exists("#albums-empty"))
            try await addFavourites(2, tab)
            try await createAlbum("Autumn", tab)
            #expect(try await !tab.exists("#albums-empty"))
            #expect(try await tab.text(".album .card-title") == "Autumn")
            #expect(try await tab.text(".album .card-style") == "0 favourites")
            #expect(try await tab.text("#albums-count") == "1")

            let other = try await browser.open(program.address)
            try await other.waitUntilLive()
            try await tab.loading { try await tab.click("#grid .card-link") }
            try await tab.waitUntilLive()
            let title = try await tab.text("h1")
            try await createAlbum("Winter", tab)
            let button = { (name: String) in
                "[...document.querySelectorAll('#memberships button')].find((b) => b.innerText.includes('\(name)'))"
            }
            try await tab.wait(for: "\(button("Winter")).getAttribute('aria-pressed') === 'true'")
            #expect(try await tab.evaluate("\(button("Autumn")).getAttribute('aria-pressed')") == "false")
            try await tab.click("#memberships [aria-pressed=false]")
            try await tab.wait(for: "document.querySelectorAll('#memberships [aria-pressed=true]').length === 2")
            try await expectNotice("“\(title)” is now in “Autumn”.", tab)
            try await tab.screenshot("favourite-in-albums")
            // The other page is live.
            try await other.wait(for: "document.querySelectorAll('.album .cover img').length === 2")
            try await screenshotAlbums("albums", other)

            try await other.loading { try await other.click(".album .card-link") }
            try await other.waitUntilLive()
            #expect(try await other.text(".card-title") == title)
            try await other.click(".card button")
            try await other.wait(for: "document.querySelector('#empty')")
            try await tab.wait(for: "\(button("Autumn")).getAttribute('aria-pressed') === 'false'")
            #expect(await tab.problems == [])
            #expect(await other.problems.isEmpty)
        }
    }

    @Test func `Removing an album asks first, and every page shows it in one step`() async throws {
        try await run { program, browser in
            let tab = try await home(program, browser)
            try await createAlbum("Both", tab)
            try await addFavourites(3, tab)
            for number in 1...2 {
                try await tab.loading { try await tab.click("#grid .card:nth-child(\(number)) .card-link") }
                try await tab.waitUntilLive()
                try await tab.click("#memberships button")
                try await tab.wait(for: "document.querySelector('#memberships [aria-pressed=true]')")
                try await tab.loading { try await tab.click(".wordmark") }
                try await tab.waitUntilLive()
            }
            let other = try await browser.open(program.address)
            try await other.waitUntilLive()
            try await other.wait(for: "\(Self.numbers) === '3/1'")
            _ = try await other.evaluate(
                """
                window.states = [];
                new MutationObserver(() => states.push(\(Self.numbers)))
                    .observe(document.body, { childList: true, subtree: true });
                ""
                """)
            try await tab.loading { try await tab.click(".album .card-link") }
            try await tab.waitUntilLive()
            try await tab.screenshot("album")

            try await tab.click("#remove-album")
            try await tab.wait(for: "document.activeElement.id === 'remove-cancel'")
            try await tab.screenshot("album-question")
            try await tab.click("#remove-cancel")
            try await tab.wait(for: "!document.querySelector('#remove-dialog').matches(':popover-open')")
            try await tab.click("#remove-album")
            #expect(try await tab.text("#remove-both") == "Remove the album and 2 favourites")
            try await tab.loading { try await tab.click("#remove-both") }
            try await expectNotice("The album “Both” and 2 favourites were removed.", tab)
            try await other.wait(for: "\(Self.numbers) === '1/0'")
            #expect(try await other.evaluate("[...new Set(states)].join(' ')") == "1/0")
            try await undo(tab)
            try await other.wait(for: "\(Self.numbers) === '3/1'")
            try await other.wait(for: "document.querySelectorAll('.album .cover img').length === 2")

            // Only the album, while another tab shows it.
            try await other.loading { try await other.click(".album .card-link") }
            try await other.waitUntilLive()
            try await tab.loading { try await tab.click(".album .card-link") }
            try await tab.click("#remove-album")
            try await tab.loading { try await tab.click("#remove-one") }
            try await tab.wait(for: "\(Self.numbers) === '3/0'")
            try await other.wait(for: "document.querySelector('#problem')")
            // The page of an album that is removed can be requested once more.
            #expect(await tab.problems.filter { !$0.contains("404") } == [])
        }
    }

    @Test func `Another process's removal of a favourite reaches the albums of open pages in one step`() async throws {
        let folder = try Folder()
        let program = try await DemoProgram(in: folder)
        try await Browser.run { browser in
            let tab = try await home(program, browser)
            try await addFavourites(2, tab)
            try await tab.loading { try await tab.click(".card-link") }
            try await tab.waitUntilLive()
            try await createAlbum("Winter", tab)
            try await tab.loading { try await tab.click(".wordmark") }
            try await tab.waitUntilLive()
            try await tab.wait(for: "document.querySelector('.album .cover img')")
            let numbers =
                """
                document.querySelectorAll('#grid .card').length + "/" + document.querySelectorAll('.cover img').length
                """
            _ = try await tab.evaluate(
                """
                window.states = [];
                new MutationObserver(() => states.push(\(numbers)))
                    .observe(document.body, { childList: true, subtree: true });
                ""
                """)
            let id = try await tab.evaluate("document.querySelector('#grid .card').dataset.id")
            // This engine knows nothing about albums.
            let file = try SQLiteStorageEngine(opening: folder.directory("data"), databaseFilename: "gallery")
            try await file.collection(named: "favourites").remove(key: CacheKey(id))
            try await tab.wait(for: "\(numbers) === '1/0'")
            #expect(try await tab.evaluate("[...new Set(states)].join(' ')") == "1/0")
            #expect(try await tab.text(".album .card-style") == "0 favourites")
        }
        #expect(try await program.stop() == 0)
    }

    @Test(arguments: [320, 1280])
    func `Albums with long names and their dialog fit into the window`(_ width: Int) async throws {
        try await run { program, browser in
            let tab = try await home(program, browser)
            try await tab.resize(width, 844, isPhone: width < 500)
            try await addFavourites(1, tab)
            let name = String(repeating: "W", count: 60)
            try await createAlbum(name, tab)
            try await createAlbum("Evenings by the water", tab)
            try await tab.click("#dismiss")
            try await tab.wait(for: "!document.querySelector('#notice, [aria-busy]')")
            try await expectNoOverflow(tab, width)
            try await screenshotAlbums("albums-\(width)", tab)
            try await tab.loading { try await tab.click(".card-link") }
            try await tab.waitUntilLive()
            for count in 1...2 {
                try await tab.click("#memberships [aria-pressed=false]")
                try await tab.wait(
                    for: "document.querySelectorAll('#memberships [aria-pressed=true]').length === \(count)")
            }
            try await tab.wait(for: "document.querySelector('#dismiss')")
            try await tab.click("#dismiss")
            try await tab.wait(for: "!document.querySelector('#notice')")
            try await expectNoOverflow(tab, width)
            try await tab.screenshot("memberships-\(width)")

            try await tab.loading { try await tab.click(".wordmark") }
            try await tab.loading { try await tab.click(".album:nth-child(2) .card-link") }
            try await tab.waitUntilLive()
            #expect(try await tab.evaluate("document.querySelector('h1').innerText.includes('\(name)')", as: Bool.self))
            try await tab.click("#remove-album")
            try await tab.wait(for: "document.activeElement.id === 'remove-cancel'")
            try await expectNoOverflow(tab, width)
            try await tab.screenshot("album-question-\(width)")
        }
    }

    @Test func `Albums work with the keyboard, and have names for screen readers`() async throws {
        try await run { program, browser in
            let tab = try await home(program, browser)
            try await addFavourites(1, tab)
            let title = try await tab.text(".card-title")
            try await tab.tab(to: "#album-name")
            try await tab.type("Winter")
            try await tab.press(.enter)
            try await tab.wait(for: "document.querySelector('.album')")
            #expect(try await tab.evaluate("document.activeElement.id") == "album-name")

            try await tab.loading { try await tab.click("#grid .card-link") }
            try await tab.waitUntilLive()
            try await tab.tab(to: "#memberships button")
            try await tab.press(.enter)
            try await tab.wait(for: "document.activeElement.matches('#memberships [aria-pressed=true]')")
            try await tab.loading { try await tab.click(".wordmark") }
            try await tab.loading { try await tab.click(".album .card-link") }
            try await tab.waitUntilLive()
            try await tab.tab(to: "#remove-album")
            try await tab.press(.enter)
            try await tab.wait(for: "document.activeElement.id === 'remove-cancel'")

            struct Tree: Decodable, Sendable { let nodes: [Node] }
            struct Node: Decodable, Sendable {
                struct Text: Decodable, Sendable { let value: String? }
                let role: Text?
                let name: Text?
                let description: Text?
            }
            try await tab.send("Accessibility.enable")
            let nodes = try await tab.send("Accessibility.getFullAXTree", returning: Tree.self).nodes
            let dialog = try #require(nodes.first { $0.role?.value == "dialog" })
            #expect(dialog.name?.value == "Remove the album “Winter”?")
            #expect(dialog.description?.value?.hasPrefix("Its picture is in no other album") == true)
            let names = Set(nodes.compactMap(\.name?.value))
            #expect(names.contains("Remove “\(title)” from the album"))
            for node in nodes where ["button", "link", "textbox"].contains(node.role?.value) {
                #expect(node.name?.value?.isEmpty == false)
            }

            try await tab.press(.escape)
            try await tab.wait(for: "document.activeElement.id === 'remove-album'")
            try await tab.press(.enter)
            try await tab.tab(to: "#remove-both")
            try await tab.loading { try await tab.press(.enter) }
            try await tab.wait(for: "\(Self.numbers) === '0/0'")
            // The page of an album that is removed can be requested once more.
            #expect(await tab.problems.filter { !$0.contains("404") } == [])
        }
    }

    @Test func `Albums work without scripts`() async throws {
        try await run { program, browser in
            let first = try await home(program, browser)
            try await addFavourites(1, first)
            let tab = try await Tab(browser)
            try await tab.send("Emulation.setScriptExecutionDisabled", ["value": true])
            try await tab.navigate(to: program.address)
            try await tab.loading { try await tab.click(".card-link") }
            try await tab.click("#album-name")
            try await tab.type("Winter")
            try await tab.loading { try await tab.press(.enter) }
            #expect(try await tab.exists("#memberships [aria-pressed=true]"))
            try await tab.loading { try await tab.click("#memberships button") }
            #expect(try await tab.exists("#memberships [aria-pressed=false]"))
            try await tab.loading { try await tab.click("#memberships button") }
            try await tab.loading { try await tab.click(".wordmark") }
            try await tab.loading { try await tab.click(".album .card-link") }
            try await tab.click("#remove-album")
            try await tab.loading { try await tab.click("#remove-both") }
            #expect(try await tab.exists("#empty"))
            #expect(try await tab.exists("#albums-empty"))
        }
    }
}
