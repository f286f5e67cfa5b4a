import Browsing
import Testing

extension BrowserTests {

    @Test func `The colours are the system's until the user chooses a theme, which is stored`() async throws {
        let folder = try Folder()
        let program = try await DemoProgram(in: folder)
        try await Browser.run { browser in
            let wall = "getComputedStyle(document.body).backgroundColor"
            let tab = try await home(program, browser)
            try await tab.setColorScheme("light")
            let light = try await tab.evaluate(wall)
            try await tab.setColorScheme("dark")
            let dark = try await tab.evaluate(wall)
            #expect(light == "rgb(245, 241, 234)")
            #expect(dark == "rgb(20, 18, 16)")
            try await tab.screenshot("dark")

            try await tab.click("[popovertarget=settings]")
            try await tab.click("#theme-light")
            try await tab.wait(for: "\(wall) === '\(light)'")
            #expect(try await tab.exists("#theme-light[aria-pressed=true]"))
            try await tab.screenshot("settings")
            #expect(await tab.problems.isEmpty)
            #expect(try await program.stop() == 0)

            let again = try await DemoProgram(in: folder)
            try await tab.navigate(to: again.address)
            #expect(try await tab.evaluate(wall) == light)
            #expect(try await again.stop() == 0)
        }
    }

    @Test func `The order of the favourites can be chosen`() async throws {
        try await run { program, browser in
            let titles = "[...document.querySelectorAll('.card-title')].map((title) => title.innerText)"
            let tab = try await home(program, browser)
            try await addFavourites(3, tab)
            let newest = try await tab.evaluate(titles, as: [String].self)

            try await tab.click("#order [value=oldest]")
            try await tab.wait(for: "document.querySelector('#order [value=oldest][aria-pressed=true]')")
            #expect(try await tab.evaluate(titles, as: [String].self) == newest.reversed())
            try await tab.click("#order [value=title]")
            try await tab.wait(for: "document.querySelector('#order [value=title][aria-pressed=true]')")
            #expect(try await tab.evaluate(titles, as: [String].self) == newest.sorted())
        }
    }

    @Test(arguments: [390, 320, 768, 1280])
    func `No element is wider than the window`(_ width: Int) async throws {
        try await run { program, browser in
            let tab = try await home(program, browser)
            try await tab.resize(width, 844, isPhone: width < 500)
            try await addFavourites(3, tab)
            try await expectNoOverflow(tab, width)
            try await tab.screenshot("home-\(width)")

            try await tab.click("[popovertarget=settings]")
            try await tab.wait(for: "document.querySelector('#settings').matches(':popover-open')")
            try await expectNoOverflow(tab, width)
            try await tab.screenshot("settings-\(width)")
            try await tab.click("#api-off")
            try await tab.wait(for: "document.querySelector('#offline')")
            try await expectNoOverflow(tab, width)

            try await tab.press(.escape)
            try await tab.loading { try await tab.click(".card-link") }
            try await expectNoOverflow(tab, width)
            try await tab.screenshot("favourite-\(width)")
            try await tab.navigate(to: program.address + "/nothing")
            try await expectNoOverflow(tab, width)
            try await tab.screenshot("problem-\(width)")
        }
    }

    /// Expects that all elements fit into a window of a width.
    func expectNoOverflow(_ tab: Tab, _ width: Int) async throws {
        let widest = try await tab.evaluate("document.documentElement.scrollWidth", as: Int.self)
        #expect(widest <= width)
        // Not even if it would be clipped.
        let outside = try await tab.evaluate(
            """
            [...document.querySelectorAll("body *")].filter((element) => {
                const box = element.getBoundingClientRect();
                return box.width > 0 && (box.right > \(width) + 1 || box.left < -1);
            }).map((element) => element.outerHTML.slice(0, 80))
            """,
            as: [String].self
        )
        #expect(outside.filter { !$0.contains("class=\"skip\"") } == [])
        // No element overlaps its neighbour.
        let tight = try await tab.evaluate(
            """
            [...document.querySelectorAll(".wordmark, .button, .choice, .card-title, dd, h1")]
                .filter((element) => element.scrollWidth > element.clientWidth + 1)
                .map((element) => element.outerHTML.slice(0, 80))
            """,
            as: [String].self
        )
        #expect(tight == [])
    }
}
