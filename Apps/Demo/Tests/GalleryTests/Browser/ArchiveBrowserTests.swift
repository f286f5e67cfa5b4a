import Browsing
import Foundation
import Testing

extension BrowserTests {

    @Test func `A search of 100,000 pictures is a live window, in which another tab's changes appear at their places`()
        async throws
    {
        try await run { program, browser in
            let titles = "[...document.querySelectorAll('.card-title')].map((title) => title.innerText)"
            let tab = try await browser.open(program.address + "/archive")
            try await tab.wait(for: "document.querySelector('#matches')?.innerText === '100,000 pictures'")
            try await tab.wait(for: "document.querySelectorAll('.card').length === 24 && windowID")
            try await tab.screenshot("archive")

            try await tab.click("#search-title")
            // In another order than in the titles, the last word not yet complete.
            try await tab.type("house qui")
            try await tab.wait(for: "location.search.includes('house') && windowID")
            try await tab.wait(for: "\(titles).every((title) => title.startsWith('Quiet House'))")
            #expect(try await tab.text(".card-title mark") == "Quiet")
            try await tab.wait(for: "document.querySelectorAll('.card').length === 24")
            // The search field keeps the focus.
            #expect(try await tab.evaluate("document.activeElement.id") == "search-title")
            #expect(try await tab.evaluate("window.mark = 'kept'") == "kept")

            // Another tab adds pictures, of which one comes between others, and one is not found.
            let second = try await tab.evaluate("\(titles)[1]")
            let other = try await browser.open(program.address + "/archive?title=house+qui")
            try await other.wait(for: "document.querySelectorAll('.card').length === 24 && windowID")
            for title in [second + " A", "Restless"] {
                try await other.click("#add-title")
                try await other.type(title)
                try await other.press(.enter)
                try await other.wait(
                    for: "document.querySelector('#notice p')?.innerText.includes(\(Tab.quoted(title)))")
                try await other.wait(for: "document.querySelector('#add-title').value === ''")
            }
            let added = "\(titles).indexOf(\(Tab.quoted(second + " A")))"
            for tab in [tab, other] {
                try await tab.wait(for: "\(added) >= 0")
                let shown = try await tab.evaluate(titles, as: [String].self)
                #expect(shown == shown.sorted())
                #expect(try await tab.count(".card") == 24)
            }
            #expect(try await tab.evaluate("window.mark") == "kept")

            // More pictures, in this tab only.
            try await tab.click("#more")
            try await tab.wait(for: "document.querySelectorAll('.card').length === 48")
            #expect(try await other.count(".card") == 24)
            #expect(try await tab.evaluate("location.search.includes('shown=48')", as: Bool.self))

            // The picture that was added is removed again.
            let place = try await other.evaluate(added, as: Int.self)
            try await other.click(".card:nth-child(\(place + 1)) .button.icon")
            for tab in [tab, other] { try await tab.wait(for: "\(added) < 0") }
            // The next picture comes into the window.
            try await tab.wait(for: "document.querySelectorAll('.card').length === 48")
            for width in [320, 768] {
                try await tab.resize(width, 844, isPhone: width < 500)
                try await expectNoOverflow(tab, width)
                try await tab.screenshot("archive-\(width)")
            }
            #expect(await tab.problems.isEmpty)
            #expect(await other.problems.isEmpty)
        }
    }
}
