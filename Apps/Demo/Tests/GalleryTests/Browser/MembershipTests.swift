import Browsing
import Foundation
import Testing

extension BrowserTests {

    @Test func `Members get more pictures, and no page contains the token`() async throws {
        let folder = try Folder()
        let program = try await DemoProgram(in: folder, "--verbose")
        try await Browser.run { browser in
            let tab = try await home(program, browser)
            try await tab.click("[popovertarget=settings]")
            try await signIn(tab, "Ada <Lovelace>", "wrong")
            try await tab.wait(for: "document.querySelector('#notice.error')")
            #expect(try await tab.text("#notice p") == "The password is wrong.")

            try await signIn(tab, "Ada <Lovelace>", "easel")
            try await tab.wait(for: "document.querySelector('#sign-out')")
            #expect(try await tab.text("#settings").contains("You are signed in as Ada <Lovelace>."))
            try await tab.press(.escape)
            // One of seven styles is for members, and no style comes twice in a row.
            try await showUntilForMembers(tab)
            try await tab.screenshot("members")

            #expect(await tab.problems.isEmpty)
            let html = try await tab.evaluate("document.documentElement.outerHTML")
            #expect(!html.contains(#/[0-9a-f]{64}/#))
            #expect(!program.logged.contains(#/[0-9a-f]{64}/#))
            #expect(try await program.stop() == 0)

            // The session survives a restart of both servers.
            let again = try await DemoProgram(in: folder, "--verbose")
            try await tab.navigate(to: again.address)
            try await tab.waitUntilLive()
            try await showUntilForMembers(tab)
            try await tab.click("[popovertarget=settings]")
            try await tab.click("#sign-out")
            try await tab.wait(for: "document.querySelector('#sign-in')")
            #expect(try await again.stop() == 0)
            #expect(!again.logged.contains(#/[0-9a-f]{64}/#))
        }
    }

    private func signIn(_ tab: Tab, _ name: String, _ password: String) async throws {
        _ = try await tab.evaluate(
            "document.querySelectorAll('#name, #password').forEach((field) => field.value = ''), ''")
        try await tab.click("#name")
        try await tab.type(name)
        try await tab.click("#password")
        try await tab.type(password)
        try await tab.press(.enter)
    }

    private func showUntilForMembers(_ tab: Tab) async throws {
        for _ in 0..<100 {
            try await showAnother(tab)
            if try await tab.exists(".badge") { return }
        }
        Issue.record("None of 100 pictures was for members.")
    }
}
