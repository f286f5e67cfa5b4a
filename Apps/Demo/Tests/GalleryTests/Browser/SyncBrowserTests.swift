import Browsing
import Foundation
import Testing

extension BrowserTests {

    private func isSettled(_ tab: Tab) async throws {
        try await tab.wait(for: "document.querySelector('#sync-state').innerText === 'Everything is up to date'")
    }

    /// Renames the album of the page with its dialog.
    private func rename(_ name: String, _ tab: Tab) async throws {
        try await tab.click("#rename-album")
        try await tab.wait(for: "document.activeElement.id === 'new-name'")
        try await tab.screenshot("album-rename")
        _ = try await tab.evaluate("document.activeElement.select(), ''")
        try await tab.type(name)
        try await tab.press(.enter)
        try await tab.wait(for: "document.querySelector('h1').innerText.trim().startsWith(\(Tab.quoted(name)))")
    }

    @Test func `Two devices agree, go on without each other, and show a conflict side by side`() async throws {
        let folder = try Folder()
        let program = try await DemoProgram(in: folder, sync: true)
        let addresses = program.announcement.matches(of: #/http://127.0.0.1:[0-9]+/#).map { String($0.0) }
        try await Browser.run { browser in
            let laptop = try await browser.open(addresses[0])
            let phone = try await browser.open(addresses[1])
            let both = [laptop, phone]
            for tab in both {
                try await tab.waitUntilLive()
                try await tab.wait(for: "document.querySelector('#favourite')")
                try await isSettled(tab)
            }
            #expect(try await laptop.text("#device") == "Laptop")
            #expect(try await phone.evaluate("document.title") == "Emporium Gallery · Phone")

            // A favourite and an album appear on the other device without a reload, with their pictures.
            try await laptop.click("#favourite")
            try await phone.wait(for: "document.querySelector('#grid .card img')?.naturalWidth > 4")
            try await phone.click("#album-name")
            try await phone.type("Autumn")
            try await phone.press(.enter)
            try await laptop.wait(for: "document.querySelector('.album .card-title')?.innerText === 'Autumn'")
            for tab in both { try await isSettled(tab) }
            try await laptop.screenshot("sync-laptop")

            // Switched off, both go on.
            for tab in both {
                try await tab.click("#sync-switch")
                try await tab.wait(for: "document.querySelector('#sync-switch[aria-checked=false]')")
            }
            try await phone.click("#favourite")
            try await phone.wait(for: "document.querySelectorAll('#grid .card').length === 2")
            for (tab, name) in [(laptop, "Leaves"), (phone, "October")] {
                try await tab.loading { try await tab.click(".album .card-link") }
                try await tab.waitUntilLive()
                try await rename(name, tab)
            }
            try await phone.wait(
                for: "document.querySelector('#sync-state').innerText === 'Switched off · 2 changes wait'")
            try await laptop.wait(
                for: "document.querySelector('#sync-state').innerText === 'Switched off · 1 change waits'")

            try await phone.click("[popovertarget=settings]")
            try await phone.wait(for: "document.querySelector('#settings').matches(':popover-open')")
            try await phone.screenshot("sync-settings")
            try await phone.press(.escape)

            // Switched on, they agree, and the one that has sent later reports the conflict.
            try await laptop.click("#sync-switch")
            try await isSettled(laptop)
            try await phone.click("#sync-switch")
            try await laptop.wait(for: "document.querySelector('h1').innerText.trim() === 'October'")
            try await phone.wait(for: "document.querySelector('#conflicts-link')?.innerText === '1 conflict'")
            #expect(try await !laptop.exists("#conflicts-link"))
            try await laptop.loading { try await laptop.click(".wordmark") }
            #expect(try await laptop.count("#grid .card") == 2)

            try await phone.loading { try await phone.click("#conflicts-link") }
            try await phone.waitUntilLive()
            let names = "[...document.querySelectorAll('.version .card-title')].map((title) => title.innerText)"
            #expect(try await phone.evaluate(names, as: [String].self) == ["October", "Leaves", "October"])
            for width in [320, 390, 1280] {
                try await phone.resize(width, 844, isPhone: width < 500)
                for scheme in ["dark", "light"] {
                    try await phone.setColorScheme(scheme)
                    try await phone.screenshot("conflict-\(scheme)-\(width)")
                }
                try await expectNoOverflow(phone, width)
            }

            // The choice appears on both.
            try await phone.click("[name=version][value=remote]")
            try await phone.wait(for: "document.querySelector('#no-conflicts')")
            try await phone.wait(for: "!document.querySelector('#conflicts-link')")
            try await laptop.wait(for: "document.querySelector('.album .card-title').innerText === 'Leaves'")
            try await expectNotice("The album “Leaves” is now as on the other device.", phone)

            // A removal is undone on both.
            try await laptop.click("#grid .card button")
            try await laptop.wait(for: "document.querySelectorAll('#grid .card').length === 1")
            try await phone.loading { try await phone.click(".wordmark") }
            try await phone.waitUntilLive()
            try await phone.wait(for: "document.querySelectorAll('#grid .card').length === 1")
            try await undo(laptop)
            try await phone.wait(for: "document.querySelectorAll('#grid .card').length === 2")
            try await phone.wait(
                for: "[...document.querySelectorAll('#grid .card img')].every((image) => image.naturalWidth > 4)")
            for tab in both { #expect(await tab.problems == []) }
        }
        #expect(try await program.stop() == 0)
    }
}
