import Foundation
import Testing

@testable import PictureAPI

#if canImport(FoundationXML)
import FoundationXML
#endif

struct ArtworkTests {

    /// Pictures of all styles, several of each.
    static let ids = styles.flatMap { style in
        (0..<12).map { Artwork.ID(style: style.name, seed: UInt64($0) &* 0x1234_5678_9ABC_DEF1) }
    }

    @Test(arguments: ids)
    func `A picture is the same each time it is drawn`(_ id: Artwork.ID) throws {
        let first = try #require(Artwork(id))
        let second = try #require(Artwork(id))
        #expect(first.canvas.svg == second.canvas.svg)
        #expect(first.title == second.title)
    }

    @Test func `Different seeds give different pictures`() throws {
        let pictures = Self.ids.compactMap { Artwork($0)?.canvas.svg }
        #expect(pictures.count == Self.ids.count)
        #expect(Set(pictures).count == pictures.count)
    }

    @Test(arguments: ids)
    func `A picture is a well-formed document of bounded size without external references`(
        _ id: Artwork.ID
    ) throws {
        let svg = try #require(Artwork(id)).canvas.svg
        let parser = XMLParser(data: Data(svg.utf8))
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
        #expect(svg.utf8.count < 256 * 1024)
        #expect(!svg.contains("<script") && !svg.contains("href") && !svg.contains("nan") && !svg.contains("inf"))
    }

    @Test(arguments: ids)
    func `An identifier can be parsed again`(_ id: Artwork.ID) {
        #expect(Artwork.ID(id.description) == id)
    }

    @Test(arguments: [
        "", "-", "dunes", "dunes-", "dunes-1", "dunes-000000000000000G", "dunes-000000000000000A",
        "dunes-+00000000000001",
        "dunes-0000000000000001-", "dunes-00000000000000011", "../dunes-0000000000000001/",
    ])
    func `An invalid identifier is refused`(_ text: String) {
        #expect(Artwork.ID(text).flatMap(Artwork.init) == nil)
    }

    @Test func `There is no picture in a style that does not exist`() {
        #expect(Artwork(Artwork.ID(style: "cubism", seed: 1)) == nil)
    }

    @Test func `A seed makes the sequence of pictures the same, and no style comes twice in a row`() async {
        let (first, second) = (Chooser(seed: 5), Chooser(seed: 5))
        var last = ""
        for _ in 0..<200 {
            let id = await first.next(isMember: true)
            #expect(await second.next(isMember: true) == id)
            #expect(id.style != last)
            last = id.style
        }
    }

    @Test func `Numbers are written as SVG reads them`() {
        #expect([0.0, -0.04, 1, 1.26, -1.26, -0.5, 1200].map(\.svg) == ["0", "0", "1", "1.3", "-1.3", "-0.5", "1200"])
        #expect([0, 0.25, 0.005, 1, 1.5].map { Thousandths($0).svg } == ["0", "0.250", "0.005", "1", "1.500"])
        #expect(Color(0x0AFF00).description == "#0aff00")
    }
}
