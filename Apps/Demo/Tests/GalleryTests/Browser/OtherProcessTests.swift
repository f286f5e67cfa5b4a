import Bodega
import Browsing
import Foundation
import Testing

extension BrowserTests {

    @Test func `Open pages show removals and additions of another process without a reload`() async throws {
        let folder = try Folder()
        let program = try await DemoProgram(in: folder)
        try await Browser.run { browser in
            let tab = try await home(program, browser)
            try await addFavourites(3, tab)
            let other = try await home(program, browser)
            for tab in [tab, other] {
                try await tab.wait(for: "document.querySelectorAll('.card').length === 3")
                #expect(try await tab.evaluate("window.mark = 'kept'") == "kept")
            }

            // The test's process is not the program's.
            let file = try SQLiteStorageEngine(opening: folder.directory("data"), databaseFilename: "gallery")
            let favourites = try file.collection(named: "favourites")
            let items = try await favourites.fetchAll()
            try await favourites.remove(keys: [items[0].key, items[1].key])
            for tab in [tab, other] { try await tab.wait(for: "document.querySelectorAll('.card').length === 1") }
            try await favourites.write(items[0].data, key: items[0].key)
            for tab in [tab, other] {
                try await tab.wait(for: "document.querySelectorAll('.card').length === 2")
                #expect(try await tab.text("#count") == "2")
                #expect(try await tab.evaluate("window.mark") == "kept")
            }

            // The page still works.
            try await tab.click(".card button")
            try await other.wait(for: "document.querySelectorAll('.card').length === 1")
            #expect(try await favourites.fetchCount() == 1)
        }
        #expect(try await program.stop() == 0)
    }
}
