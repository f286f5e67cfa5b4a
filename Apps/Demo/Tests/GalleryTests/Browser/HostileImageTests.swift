import Boutique
import Browsing
import HummingbirdTesting
import Testing

@testable import Gallery

extension BrowserTests {

    @Test func `An image with a script runs nothing, even if it is opened as a document`() async throws {
        // The gallery does not accept such an image from the API, but another program may have stored one.
        let image = """
            <svg xmlns="http://www.w3.org/2000/svg" width="4" height="3" onload="document.documentElement.id='run'">\
            <script>document.documentElement.id = "run"; parent.document.title = "run"</script>\
            <image href="/favourites/stub-1"/></svg>
            """
        try await TestGallery().run(StubAPI(), .live) { client, controllers in
            let exhibit = try await Exhibit.stored("stub-1", image: image, in: controllers.images)
            try await controllers.easel.$exhibit.set(exhibit)
            let address = "http://127.0.0.1:\(client.port ?? 0)"
            let path = await controllers.easel.exhibit.map { "/images/\($0.image.text)" } ?? ""
            try await Browser.run { browser in
                let tab = try await browser.open(address)
                try await tab.wait(for: "document.querySelector('.frame img').naturalWidth === 4")
                #expect(try await tab.evaluate("document.title") == "Emporium Gallery")
                try await tab.navigate(to: address + path)
                #expect(try await tab.evaluate("document.documentElement.id") == "")
                #expect(try await tab.evaluate("self.origin") == "null")
            }
        }
    }
}
