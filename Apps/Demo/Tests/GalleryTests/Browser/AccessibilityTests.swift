import Browsing
import Testing

extension BrowserTests {

    @Test func `Every action is available with the keyboard, and the focus is visible`() async throws {
        try await run { program, browser in
            let tab = try await home(program, browser)
            try await tab.press(.tab)
            #expect(try await tab.evaluate("document.activeElement.className") == "skip")
            try await tab.press(.enter)
            #expect(try await tab.evaluate("document.activeElement.id") == "main")

            let title = try await tab.text("#easel-title")
            try await tab.tab(to: "#next")
            #expect(try await tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid")
            try await tab.press(.enter)
            try await tab.wait(for: "document.querySelector('#easel-title').innerText !== \(Tab.quoted(title))")
            // The button is still there, and still has the focus.
            try await tab.wait(for: "document.activeElement.id === 'next'")

            try await tab.tab(to: "#favourite")
            try await tab.press(.enter)
            try await tab.wait(for: "document.querySelectorAll('.card').length === 1")
            #expect(try await tab.evaluate("document.activeElement.id") == "favourite")
            try await tab.tab(to: ".card button")
            try await tab.press(.enter)
            try await tab.wait(for: "!document.querySelector('.card')")
            // The element with the focus is gone; the focus moves to a nearby one.
            try await tab.wait(for: "document.activeElement.id === 'favourites-title'")
            try await tab.wait(for: "document.querySelector('#undo')")
            try await tab.tab(to: "#undo")
            try await tab.press(.enter)
            try await tab.wait(for: "document.querySelector('.card')")

            try await tab.tab(to: "#clear")
            try await tab.press(.enter)
            try await tab.wait(for: "document.activeElement.id === 'clear-cancel'")
            try await tab.press(.escape)
            try await tab.wait(for: "document.activeElement.id === 'clear'")
            try await tab.press(.enter)
            try await tab.tab(to: "#clear-confirm")
            try await tab.press(.enter)
            try await tab.wait(for: "!document.querySelector('.card')")
            #expect(await tab.problems.isEmpty)
        }
    }

    @Test func `Every control has a name for screen readers`() async throws {
        try await run { program, browser in
            let tab = try await home(program, browser)
            try await addFavourites(1, tab)
            struct Tree: Decodable, Sendable { let nodes: [Node] }
            struct Node: Decodable, Sendable {
                struct Text: Decodable, Sendable { let value: String? }
                let ignored: Bool
                let role: Text?
                let name: Text?
            }
            try await tab.click("[popovertarget=settings]")
            try await tab.send("Accessibility.enable")
            let nodes = try await tab.send("Accessibility.getFullAXTree", returning: Tree.self).nodes
            for node in nodes where !node.ignored {
                let role = node.role?.value ?? ""
                guard ["button", "link", "textbox", "image", "heading", "group"].contains(role) else { continue }
                #expect(node.name?.value?.isEmpty == false, "A \(role) has no name.")
            }
            let names = Set(nodes.compactMap(\.name?.value))
            let title = try await tab.text(".card-title")
            #expect(names.contains("Remove “\(title)” from the favourites"))
            #expect(names.contains("Close the settings"))
            // The outcome of an action is announced without moving the focus.
            try await tab.press(.escape)
            try await tab.click(".card button")
            try await tab.wait(for: "document.querySelector('[role=status] #notice')")
        }
    }

    @Test func `Every action is available without scripts`() async throws {
        try await run { program, browser in
            let tab = try await Tab(browser)
            try await tab.send("Emulation.setScriptExecutionDisabled", ["value": true])
            // The first picture is being fetched; without scripts the user reloads the page.
            let deadline = ContinuousClock.now + Browser.patience
            repeat {
                try await tab.navigate(to: program.address)
            } while try await !tab.exists("#favourite") && ContinuousClock.now < deadline
            try #require(try await tab.exists("#favourite"))
            let title = try await tab.text("#easel-title")

            try await tab.loading { try await tab.click("#favourite") }
            #expect(try await tab.text(".card-title") == title)
            #expect(try await tab.text("#notice p") == "“\(title)” is now a favourite.")
            try await tab.loading { try await tab.click("#next") }
            #expect(try await tab.text("#easel-title") != title)
            try await tab.loading { try await tab.click("#favourite") }
            #expect(try await tab.count(".card") == 2)
            try await tab.loading { try await tab.click(".card button") }
            #expect(try await tab.count(".card") == 1)
            try await tab.loading { try await tab.click("#undo") }
            #expect(try await tab.count(".card") == 2)

            try await tab.click("[popovertarget=settings]")
            try await tab.loading { try await tab.click("#theme-dark") }
            #expect(try await tab.exists("[data-theme=dark]"))

            try await tab.loading { try await tab.click(".card-link") }
            try await tab.loading { try await tab.click("#following") }
            try await tab.loading { try await tab.click("#remove") }
            #expect(try await tab.count(".card") == 1)
            try await tab.click("#clear")
            try await tab.loading { try await tab.click("#clear-confirm") }
            #expect(try await tab.exists("#empty"))
        }
    }
}
