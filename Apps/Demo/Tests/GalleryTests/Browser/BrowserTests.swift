import Browsing
import Foundation
import Testing

/// User scenarios in a real browser with the real program. They run one at a time, because a browser takes a whole
/// processor.
@Suite(.serialized)
struct BrowserTests {

    /// Runs a test with a program and a browser of its own.
    func run(_ body: (DemoProgram, Browser) async throws -> Void) async throws {
        let folder = try Folder()
        let program = try await DemoProgram(in: folder)
        try await Browser.run { browser in try await body(program, browser) }
        #expect(try await program.stop() == 0)
    }

    /// Opens the home page and waits for its first picture.
    func home(_ program: DemoProgram, _ browser: Browser) async throws -> Tab {
        let tab = try await browser.open(program.address)
        try await tab.waitUntilLive()
        try await tab.wait(for: "document.querySelector('#favourite, #notice.error')")
        // On a busy machine the first picture can take longer than a user would wait.
        while try await !tab.exists("#favourite") {
            try await tab.click("#next")
            try await tab.wait(for: "!document.querySelector('[data-busy]')")
            try await tab.wait(for: "document.querySelector('#favourite, #notice.error')")
        }
        return tab
    }

    /// Presses the button for another picture and waits for the picture.
    func showAnother(_ tab: Tab) async throws {
        // The API can return the same picture again, but its bytes have a different address each time.
        let image = try await tab.evaluate("document.querySelector('.frame img').src")
        try await tab.click("#next")
        try await tab.wait(
            for: "document.querySelector('.frame img').src !== '\(image)' && !document.querySelector('[aria-busy]')")
    }

    /// Adds the picture on the easel to the favourites and fetches another one, `count` times.
    func addFavourites(_ count: Int, _ tab: Tab) async throws {
        let before = try await tab.count(".card")
        for number in 1...count {
            try await tab.click("#favourite")
            try await tab.wait(for: "document.querySelectorAll('.card').length === \(before + number)")
            try await showAnother(tab)
        }
    }

    /// Waits until the page shows a notice.
    func expectNotice(_ text: String, _ tab: Tab) async throws {
        try await tab.wait(for: "document.querySelector('#notice p')?.innerText.trim() === \(Tab.quoted(text))")
    }

    /// Presses the button to undo a removal, once it is there: the page can show the removal before the notice.
    func undo(_ tab: Tab) async throws {
        try await tab.wait(for: "document.querySelector('#undo')")
        try await tab.click("#undo")
    }

    @Test func `A picture is shown, and pressing the button shows another one`() async throws {
        try await run { program, browser in
            let tab = try await home(program, browser)
            try await tab.wait(for: "document.querySelector('.frame img').naturalWidth > 0")
            let title = try await tab.text("#easel-title")

            try await showAnother(tab)

            #expect(try await tab.text("#easel-title") != title)
            try await tab.wait(for: "document.querySelector('.frame img').naturalWidth > 0")
            #expect(await tab.problems.isEmpty)
        }
    }

    @Test func `A favourite is added, removed, restored and removed for good`() async throws {
        try await run { program, browser in
            let tab = try await home(program, browser)
            #expect(try await tab.exists("#empty"))
            let title = try await tab.text("#easel-title")

            try await tab.click("#favourite")
            try await tab.wait(for: "document.querySelector('.card')")
            #expect(try await tab.text(".card-title") == title)
            #expect(try await tab.text("#count") == "1")
            try await expectNotice("“\(title)” is now a favourite.", tab)
            #expect(try await tab.exists("#favourite[aria-pressed=true]"))

            try await tab.click(".card button")
            try await tab.wait(for: "!document.querySelector('.card')")
            #expect(try await tab.exists("#empty"))
            #expect(try await tab.exists("#favourite[aria-pressed=false]"))

            try await undo(tab)
            try await tab.wait(for: "document.querySelector('.card img')?.naturalWidth > 0")
            #expect(try await tab.text(".card-title") == title)

            // The heart also removes the favourite.
            try await tab.click("#favourite")
            try await tab.wait(for: "!document.querySelector('.card')")
            try await expectNotice("“\(title)” is no longer a favourite.", tab)
            try await tab.click("#dismiss")
            try await tab.wait(for: "!document.querySelector('#notice')")
            #expect(await tab.problems.isEmpty)
        }
    }

    @Test func `All favourites are removed only after a confirmation, and can be restored`() async throws {
        try await run { program, browser in
            let tab = try await home(program, browser)
            try await addFavourites(3, tab)

            try await tab.click("#clear")
            try await tab.wait(for: "document.activeElement.id === 'clear-cancel'")
            try await tab.screenshot("question")
            try await tab.click("#clear-cancel")
            #expect(try await tab.count(".card") == 3)

            try await tab.click("#clear")
            try await tab.click("#clear-confirm")
            try await tab.wait(for: "!document.querySelector('.card')")
            try await expectNotice("All 3 favourites were removed.", tab)
            #expect(try await tab.exists("#empty"))

            try await undo(tab)
            try await tab.wait(for: "document.querySelectorAll('.card').length === 3")
            try await tab.wait(
                for: "[...document.querySelectorAll('.card img')].every((image) => image.naturalWidth > 0)")
            #expect(await tab.problems.isEmpty)
        }
    }

    @Test func `Two tabs show the same at any time`() async throws {
        try await run { program, browser in
            let first = try await home(program, browser)
            let second = try await home(program, browser)

            try await addFavourites(2, first)
            try await second.wait(for: "document.querySelectorAll('.card').length === 2")
            // The changes of the easel and of the favourites arrive one after the other.
            let title = try await first.text("#easel-title")
            try await second.wait(
                for: "document.querySelector('#easel-title')?.innerText.trim() === \(Tab.quoted(title))")

            try await second.click(".card button")
            for tab in [first, second] { try await tab.wait(for: "document.querySelectorAll('.card').length === 1") }
            #expect(try await first.text(".card-title") == second.text(".card-title"))

            try await second.click("[popovertarget=settings]")
            try await second.click("#theme-dark")
            try await first.wait(for: "document.documentElement.dataset.theme === 'dark'")
            // Open panels stay open in both tabs.
            #expect(
                try await second.evaluate("document.querySelector('#settings').matches(':popover-open')", as: Bool.self)
            )
            #expect(await first.problems.isEmpty)
            #expect(await second.problems.isEmpty)
        }
    }

    @Test func `The page of a favourite shows it, links to its neighbours, and reports its removal`() async throws {
        try await run { program, browser in
            let tab = try await home(program, browser)
            try await addFavourites(3, tab)
            let titles = try await tab.evaluate(
                "[...document.querySelectorAll('.card-title')].map((title) => title.innerText)", as: [String].self)

            try await tab.loading { try await tab.click(".card-link") }
            try await tab.waitUntilLive()
            #expect(try await tab.text("h1") == titles[0])
            #expect(try await !tab.exists("#previous"))
            try await tab.screenshot("favourite")
            try await tab.loading { try await tab.click("#following") }
            try await tab.waitUntilLive()
            #expect(try await tab.text("h1") == titles[1])
            #expect(try await tab.exists("#previous"))

            // Another tab removes it.
            let other = try await browser.open(program.address)
            try await other.waitUntilLive()
            try await other.click(".card:nth-child(2) button")
            try await tab.wait(for: "document.querySelector('#problem')")
            #expect(try await tab.text("h1") == "Page not found")
            try await undo(tab)
            try await tab.wait(for: "document.querySelector('#detail')")
            #expect(try await tab.text("h1") == titles[1])

            // Removing it on this page leads to the home page.
            try await tab.loading { try await tab.click("#remove") }
            #expect(try await tab.count(".card") == 2)
            try await expectNotice("“\(titles[1])” is no longer a favourite.", tab)
        }
    }
}

extension Tab {
    /// Waits until the page's script receives events.
    func waitUntilLive() async throws {
        try await wait(for: "document.documentElement.dataset.live === 'true'")
    }
}
