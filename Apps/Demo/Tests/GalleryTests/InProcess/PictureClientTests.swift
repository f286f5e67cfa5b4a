import Foundation
import Testing

@testable import Gallery
@testable import PictureAPI

struct PictureClientTests {

    /// Requests a picture from an API.
    private func fetch(
        _ api: StubAPI,
        timeLimit: Duration = .seconds(180),
        _ check: @escaping @Sendable (Result<PictureClient.Delivery, PictureAPIError>) -> Void
    ) async throws {
        try await api.run { address in
            let client = PictureClient(address: { address }, timeLimit: timeLimit)
            let result: Result<PictureClient.Delivery, PictureAPIError>
            do throws(PictureAPIError) {
                result = .success(try await client.randomPicture(token: nil))
            } catch {
                result = .failure(error)
            }
            check(result)
        }
    }

    private func expectUnexpected(_ api: StubAPI) async throws {
        try await fetch(api) { result in
            guard case .failure(.unexpected) = result else {
                Issue.record("The client accepted it: \(result)")
                return
            }
        }
    }

    @Test func `A picture comes with its description`() async throws {
        try await fetch(StubAPI()) { result in
            let delivery = try? result.get()
            #expect(delivery?.picture.title == "A Stub")
            #expect(delivery?.image.isEmpty == false)
        }
    }

    @Test(
        arguments: [
            ["id": "../../etc/passwd"], ["id": ""], ["id": "A"], ["title": ""],
            ["title": String(repeating: "x", count: 201)],
            ["colors": ["red"]], ["colors": ["#12345g"]], ["colors": [String]()], ["width": 0], ["height": 100_000],
            ["image": "http://example.com/"], ["image": "@example.com/"], ["image": ""], ["width": "4"],
            ["image": "/stub.svg HTTP/1.1\r\n\r\n"],
        ] as [[String: any Sendable]])
    func `A description with values out of bounds is refused`(_ changes: [String: any Sendable]) async throws {
        try await expectUnexpected(StubAPI(description: StubAPI.description(changes)))
    }

    @Test(arguments: ["", "[]", "{}", "nonsense", String(repeating: "[", count: 10_000)])
    func `Text that is not a description is refused`(_ json: String) async throws {
        try await expectUnexpected(StubAPI(description: json))
    }

    @Test func `Responses that are too large are refused`() async throws {
        let long = StubAPI.description(["title": String(repeating: "x", count: PictureClient.descriptionLimit)])
        try await expectUnexpected(StubAPI(description: long))
        try await expectUnexpected(StubAPI(image: String(repeating: " ", count: PictureClient.imageLimit + 1)))
    }

    @Test func `An empty image and an image that is not SVG are refused`() async throws {
        try await expectUnexpected(StubAPI(type: "text/html"))
        try await expectUnexpected(StubAPI(image: ""))
    }

    @Test(
        arguments: [
            "<script>alert(1)</script>", "<SCRIPT>alert(1)</SCRIPT>",
            "<s:script xmlns:s='http://www.w3.org/2000/svg'/>",
            "<g onclick='alert(1)'/>", "<g xmlns='http://www.w3.org/1999/xhtml' onload='alert(1)'/>",
            "<foreignObject><p>text</p></foreignObject>", "<iframe xmlns='http://www.w3.org/1999/xhtml'/>",
            "<a href='javascript:alert(1)'><rect/></a>", "<a xlink:href='javascript:alert(1)'/>",
            "<use href='http://evil.example/#a'/>", "<image href='http://evil.example/'/>",
            "<style>@import 'http://evil.example/';</style>", "<g style='fill: url(http://evil.example/#a)'/>",
            "<rect fill='url(http://evil.example/#a)'/>", "<rect fill='\\75rl(http://evil.example/#a)'/>",
            "<set attributeName='onclick' to='alert(1)'/>",
            "<animate attributeName='href' values='javascript:alert(1)'/>",
            "<![CDATA[<script>]]>", "<?xml-stylesheet href='http://evil.example/'?>", "<!-- -->", "<g>", "&undefined;",
            "</g>",
        ])
    func `An image that is more than a drawing is refused`(_ content: String) async throws {
        try await expectUnexpected(StubAPI(image: "<svg xmlns=\"http://www.w3.org/2000/svg\">\(content)</svg>"))
    }

    @Test(
        arguments: [
            "nonsense", "<g/>", "<svg xmlns='http://www.w3.org/1999/xhtml'/>", "<svg xmlns:x='http://example.com/'/>",
            "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg/>", "<svg onload='alert(1)'/>", "<svg/><svg/>",
        ])
    func `A document that is not a drawing is refused`(_ document: String) async throws {
        try await expectUnexpected(StubAPI(image: document))
        #expect(Drawing.objection(to: Data(document.utf8)) != nil)
        // Browsers also read other encodings.
        #expect(Drawing.objection(to: Data([0xFF, 0xFE]) + Data(document.utf8.flatMap { [$0, 0] })) != nil)
    }

    @Test func `The client accepts every picture that the API draws`() throws {
        for style in styles {
            for seed in 0..<20 as Range<UInt64> {
                let artwork = try #require(Artwork(Artwork.ID(style: style.name, seed: seed)))
                #expect(Drawing.objection(to: Data(artwork.canvas.svg.utf8)) == nil, "\(artwork.id)")
            }
        }
    }

    @Test func `Redirects are not followed`() async throws {
        try await expectUnexpected(StubAPI(description: StubAPI.description(["image": "/elsewhere"])))
    }

    @Test func `A response that does not end is abandoned`() async throws {
        let api = StubAPI(description: StubAPI.description(["image": "/never"]))
        try await fetch(api, timeLimit: .milliseconds(300)) { result in
            guard case .failure(.unreachable) = result else {
                Issue.record("The client accepted it: \(result)")
                return
            }
        }
    }

    @Test func `An unreachable API and an invalid response are different errors`() async throws {
        let client = PictureClient(address: { "http://127.0.0.1:1" })
        await #expect(throws: PictureAPIError.unreachable) { try await client.check() }
    }
}
