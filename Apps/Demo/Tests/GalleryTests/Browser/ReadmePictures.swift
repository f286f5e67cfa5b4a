import Browsing
import Testing

extension BrowserTests {

    /// `bin/screenshots` runs this test and copies its screenshots.
    @Test func `The pictures of the README can be taken`() async throws {
        let folder = try Folder()
        let program = try await DemoProgram(in: folder, seed: 4)
        try await Browser.run { browser in
            let tab = try await home(program, browser)
            try await addFavourites(8, tab)
            try await tab.wait(for: "!document.querySelector('#notice')")
            for (scheme, width, height) in [("light", 1080, 960), ("dark", 1080, 960), ("phone", 390, 844)] {
                try await tab.setColorScheme(scheme == "dark" ? "dark" : "light")
                try await tab.resize(width, height)
                // No element has the focus or is under the mouse, and the page is scrolled to the top.
                try await tab.send("Input.dispatchMouseEvent", ["type": "mouseMoved", "x": 1, "y": 1])
                _ = try await tab.evaluate("document.activeElement.blur(), scrollTo(0, 0), ''")
                try await tab.wait(
                    for: "[...document.querySelectorAll('.card img')].slice(0, 4).every((image) => image.complete)")
                try await tab.screenshot("gallery-\(scheme)")
            }
            #expect(await tab.problems.isEmpty)
        }
        #expect(try await program.stop() == 0)
    }
}
