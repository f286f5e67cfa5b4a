import Browsing
import Foundation
import Testing

extension BrowserTests {

    @Test func `Stored data is available without the API, and new pictures appear when the API is back`() async throws {
        try await run { program, browser in
            let tab = try await home(program, browser)
            try await addFavourites(2, tab)

            try await tab.click("[popovertarget=settings]")
            try await tab.click("#api-off")
            try await tab.wait(for: "document.querySelector('#offline')")
            try await tab.press(.escape)
            #expect(try await tab.text("#api-state") == "API offline")
            // The gallery itself responds, so its user is not offline.
            #expect(try await !tab.text("#offline").contains("You are offline"))

            try await tab.click("#next")
            try await tab.wait(for: "document.querySelector('#notice.error')")
            #expect(try await tab.text("#notice.error p").contains("does not respond"))

            // Stored favourites can still be shown, added, removed and restored.
            try await tab.navigate(to: program.address)
            try await tab.waitUntilLive()
            try await tab.wait(for: "document.querySelector('.frame img').naturalWidth > 0")
            try await tab.click("#favourite")
            try await tab.wait(for: "document.querySelectorAll('.card').length === 3")
            try await tab.click(".card button")
            try await tab.wait(for: "document.querySelectorAll('.card').length === 2")
            try await undo(tab)
            try await tab.wait(for: "document.querySelectorAll('.card').length === 3")
            try await tab.screenshot("offline")

            try await tab.click("#check-api")
            try await tab.wait(for: "!document.querySelector('[aria-busy]')")
            #expect(try await tab.exists("#offline"))
            try await tab.click("[popovertarget=settings]")
            try await tab.click("#api-on")
            try await tab.wait(for: "!document.querySelector('#offline')")
            try await tab.press(.escape)
            try await showAnother(tab)
            #expect(await tab.problems.isEmpty)
        }
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `An open page reports that the program has ended, and shows the stored data when it is back`(
        _ signal: Int32
    ) async throws {
        let folder = try Folder()
        // Not an ephemeral port, because the port must still be free for the second start.
        let program = try await DemoProgram(in: folder, port: .random(in: 20_000..<30_000))
        try await Browser.run { browser in
            let tab = try await home(program, browser)
            try await addFavourites(2, tab)
            // Images whose loading fails must load when the gallery is back.
            try await tab.send("Network.enable")
            try await tab.send("Network.setCacheDisabled", ["cacheDisabled": true])
            try await tab.send("Network.setBlockedURLs", ["urls": ["*/images/*"]])
            try await tab.navigate(to: program.address)
            try await tab.waitUntilLive()
            let isLost = "images.every((image) => image.complete && image.naturalWidth === 0)"
            try await tab.wait(
                for: "((images) => images.length === 3 && \(isLost))([...document.querySelectorAll('main img')])")
            let cards = try await tab.text("#grid")
            let title = try await tab.text("#easel-title")

            #expect(try await program.stop(signal) == (signal == SIGTERM ? 0 : -SIGKILL))
            try await tab.wait(for: "!document.querySelector('#connection').hidden")
            // The banner is aligned with the page, and the header does not contradict it.
            #expect(try await tab.text("#api-state") == "No connection")
            let left = "Math.round(document.querySelector(selector).getBoundingClientRect().left)"
            #expect(
                try await tab.evaluate("((selector) => \(left))('#connection')", as: Int.self)
                    == tab.evaluate("((selector) => \(left))('#main')", as: Int.self))
            try await tab.send("Network.setBlockedURLs", ["urls": [String]()])
            try await tab.click("#next")
            try await tab.wait(for: "!document.querySelector('[data-busy]')")
            #expect(try await tab.text("#grid") == cards)

            let port = try #require(Int(program.address.split(separator: ":")[2]))
            let again = try await DemoProgram(in: folder, port: port)
            #expect(again.address == program.address)
            try await tab.waitUntilLive()
            try await tab.wait(for: "document.querySelector('#connection').hidden")
            #expect(try await tab.text("#grid") == cards)
            #expect(try await tab.text("#easel-title") == title)
            try await tab.wait(for: "document.querySelector('#api-state').innerText.trim() === 'Online'")
            try await tab.wait(
                for: "[...document.querySelectorAll('main img')].every((image) => image.naturalWidth > 0)")

            // The page is live again.
            try await tab.click(".card button")
            try await tab.wait(for: "document.querySelectorAll('.card').length === 1")
            #expect(try await again.stop() == 0)
        }
    }

    @Test func `The page shows a refusal, and hides it after the next success`() async throws {
        try await run { program, browser in
            let tab = try await home(program, browser)
            try await tab.click("[popovertarget=settings]")
            // As in a page of another version. In one step, because a refresh would restore the value.
            _ = try await tab.evaluate(
                "((button) => (button.value = 'pink', button.click(), ''))(document.querySelector('#theme-dark'))")
            try await tab.wait(for: "!document.querySelector('#refusal').hidden")
            #expect(try await tab.text("#refusal").contains("400"))
            try await tab.wait(for: "!document.querySelector('[data-busy]')")
            try await tab.click("#theme-light")
            try await tab.wait(for: "document.querySelector('#refusal').hidden")
            try await tab.press(.escape)

            for failure in ["Promise.reject(new TypeError())", "Promise.resolve(new Response('', { status: 503 }))"] {
                // The form is sent, but the refresh after it fails.
                _ = try await tab.evaluate(
                    """
                    window.fetchReally ??= window.fetch;
                    window.fetch = (address, options) =>
                        options.method === "POST" ? fetchReally(address, options) : \(failure);
                    ""
                    """)
                // Not with the mouse, because the banner appears above the buttons and moves them.
                _ = try await tab.evaluate("document.querySelector('#favourite').click(), ''")
                try await tab.wait(for: "!document.querySelector('#connection').hidden")
                #expect(try await tab.exists("#easel-title"))
                // The page retries without user input.
                _ = try await tab.evaluate("window.fetch = fetchReally; ''")
                try await tab.wait(for: "document.querySelector('#connection').hidden")
                try await tab.wait(for: "!document.querySelector('[data-busy]')")
            }
        }
    }
}
