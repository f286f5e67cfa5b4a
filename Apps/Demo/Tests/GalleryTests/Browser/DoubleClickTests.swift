import Browsing
import Testing

extension BrowserTests {

    @Test func `A second click while a form is being sent has no effect, even after a refresh of the page`()
        async throws
    {
        try await run { program, browser in
            let tab = try await home(program, browser)
            try await holdRequests(tab)
            try await tab.click("#next")
            try await tab.wait(for: "posts === 1 && document.querySelector('[data-busy] #next[aria-busy]')")
            _ = try await tab.evaluate("refresh().then(() => '')")
            try await tab.click("#next")
            _ = try await tab.evaluate("refresh().then(() => '')")
            #expect(try await tab.evaluate("posts", as: Int.self) == 1)
            #expect(try await tab.exists("[data-busy] #next[aria-busy]"))

            _ = try await tab.evaluate("letGo(), ''")
            try await tab.wait(for: "!document.querySelector('[data-busy], button[aria-busy]')")
            // Afterwards the form can be sent again.
            try await tab.click("#next")
            try await tab.wait(for: "posts === 2")
            _ = try await tab.evaluate("letGo(), ''")
            try await tab.wait(for: "!document.querySelector('[data-busy]')")
        }
    }

    @Test func `Another choice while a form is being sent is sent afterwards`() async throws {
        try await run { program, browser in
            let tab = try await home(program, browser)
            try await addFavourites(1, tab)
            try await tab.wait(for: "!document.querySelector('[data-busy]')")
            try await holdRequests(tab)
            try await tab.click("#order [value=oldest]")
            try await tab.wait(for: "posts === 1")
            try await tab.click("#order [value=title]")
            _ = try await tab.evaluate("letGo(), ''")
            try await tab.wait(for: "posts === 2")
            _ = try await tab.evaluate("letGo(), ''")
            try await tab.wait(
                for: "document.querySelector('#order:not([data-busy]) [value=title][aria-pressed=true]')")

            // The last choice counts, so going back to the first one sends nothing more.
            try await tab.click("#order [value=oldest]")
            try await tab.wait(for: "posts === 3")
            for value in ["title", "oldest"] { try await tab.click("#order [value=\(value)]") }
            _ = try await tab.evaluate("letGo(), ''")
            try await tab.wait(
                for: "document.querySelector('#order:not([data-busy]) [value=oldest][aria-pressed=true]')")
            #expect(try await tab.evaluate("posts", as: Int.self) == 3)
        }
    }

    @Test func `A form whose text changes while it is being sent is sent again afterwards`() async throws {
        try await run { program, browser in
            let tab = try await home(program, browser)
            try await tab.wait(for: "!document.querySelector('[data-busy]')")
            try await tab.click("[popovertarget=settings]")
            try await holdRequests(tab)
            for (count, password) in ["wrong", "easel"].enumerated() {
                _ = try await tab.evaluate(
                    "document.querySelectorAll('#name, #password').forEach((field) => field.value = ''), ''")
                try await tab.click("#name")
                try await tab.type("Ada")
                try await tab.click("#password")
                try await tab.type(password)
                try await tab.press(.enter)
                if count == 0 { try await tab.wait(for: "posts === 1") }
            }
            _ = try await tab.evaluate("letGo(), ''")
            try await tab.wait(for: "posts === 2")
            _ = try await tab.evaluate("letGo(), ''")
            try await tab.wait(for: "document.querySelector('#sign-out')")
        }
    }

    @Test func `A form that leaves the page is sent once`() async throws {
        try await run { program, browser in
            let tab = try await home(program, browser)
            try await addFavourites(1, tab)
            try await tab.loading { try await tab.click(".card-link") }
            try await tab.waitUntilLive()
            // The form is not really sent, so that the page stays.
            _ = try await tab.evaluate(
                """
                window.sent = 0;
                addEventListener("submit", (event) => {
                    if (!event.defaultPrevented) sent += 1;
                    event.preventDefault();
                });
                ""
                """)
            for _ in 1...2 { try await tab.click("#remove") }
            #expect(try await tab.evaluate("sent", as: Int.self) == 1)
        }
    }

    /// Makes each request that changes something wait until the page's `letGo()` releases it.
    private func holdRequests(_ tab: Tab) async throws {
        _ = try await tab.evaluate(
            """
            window.fetchReally = window.fetch;
            window.posts = 0;
            window.fetch = (address, options) => {
                if (options?.method !== "POST") return fetchReally(address, options);
                posts += 1;
                return new Promise((done) => window.letGo = () => done(fetchReally(address, options)));
            };
            ""
            """)
    }
}
