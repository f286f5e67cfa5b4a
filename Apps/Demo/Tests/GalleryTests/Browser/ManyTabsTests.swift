import Browsing
import Testing

extension BrowserTests {

    /// A browser has no more than six connections to a server that does not speak HTTP/2.
    @Test func `The visible tab is live however many tabs are open, and a tab that becomes visible again catches up`()
        async throws
    {
        try await run { program, browser in
            let first = try await home(program, browser)
            var last = first
            for _ in 0..<7 {
                last = try await browser.open(program.address, isAlone: false)
                try await last.waitUntilLive()
            }
            try await first.wait(for: "document.hidden && document.documentElement.dataset.live === 'false'")

            // Not with the button, because the page refreshes once more after its response, however late it is.
            _ = try await last.evaluate(
                "fetch(document.querySelector('#favourite').form.action, { method: 'POST' }).then(() => '')")
            try await last.wait(for: "document.querySelector('.card')")
            try await first.bringToFront()
            try await first.waitUntilLive()
            try await first.wait(for: "document.querySelector('.card')")

            // The page is live again.
            try await last.wait(
                for: "document.hidden && document.documentElement.dataset.live === 'false' && !isRefreshing")
            try await first.click(".card button")
            try await first.wait(for: "!document.querySelector('.card')")
            #expect(try await last.exists(".card"))
            try await last.bringToFront()
            try await last.wait(for: "!document.querySelector('.card')")
            #expect(await first.problems.isEmpty)
            #expect(await last.problems.isEmpty)
        }
    }
}
